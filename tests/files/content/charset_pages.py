# ruff: noqa: RUF001, E501 - texts in many scripts
"""Pages in 22 encodings: a long one in HTML and a short plain text, without any label."""

from __future__ import annotations

import codecs

_JAPANESE = (
    "駅前の小さな本屋は、今年の春で開店から五十年になります。店主の山田さんは毎朝七時に店を開け、常連のお客さんと話をするのを楽しみにしています。",
    "最近は若い人も増えてきました。雨の日には、コーヒーを飲みながらゆっくり本を選ぶことができます。",
    "来週の土曜日には、作家を招いて小さな朗読会を開く予定です。参加は無料ですが、予約が必要です。",
)
_CHINESE = (
    "这座城市的图书馆在去年秋天重新开放，馆内增加了许多座位，还为孩子们准备了专门的阅读室。",
    "每到周末，附近的居民都会带着家人来这里看书，有时候还能听到老师讲故事。",
    "图书馆的工作人员说，他们希望更多的年轻人能够养成阅读的习惯，并且从中得到快乐。",
)
_TAIWANESE = (
    "這間位於河邊的茶館已經經營了三十多年，老闆每天清晨都會親自挑選新鮮的茶葉。",
    "許多遊客專程從外地來到這裡，坐在窗邊一面喝茶，一面欣賞對岸的風景。",
    "老闆說，最重要的不是茶的價錢，而是客人離開的時候臉上的笑容。",
)
_KOREAN = (
    "우리 동네 시장은 아침 여섯 시에 문을 엽니다. 상인들은 새벽부터 신선한 채소와 생선을 준비합니다.",
    "주말에는 멀리서 온 손님들이 많아서 골목마다 사람들로 붐빕니다. 아이들은 떡볶이 가게 앞에서 줄을 섭니다.",
    "시장의 할머니는 오십 년 동안 같은 자리에서 두부를 팔고 있습니다. 그래서 모두가 할머니를 알고 있습니다.",
)
_POLISH = (
    "Wczoraj wieczorem mieszkańcy małej wsi spotkali się w szkole, żeby porozmawiać o nowej drodze.",
    "Większość z nich uważa, że droga jest potrzebna, ale część boi się hałasu i większego ruchu.",
    "Wójt obiecał, że jeszcze w tym miesiącu odpowie na wszystkie pytania, które zostały zadane. Źródło: gazeta.",
)
_CZECH = (
    "Příští týden začne oprava starého mostu přes řeku, který byl postaven před více než sto lety.",
    "Řidiči budou muset používat objížďku přes sousední město, chodci mohou využít dřevěnou lávku.",
    "Podle starosty potrvají práce nejméně čtyři měsíce. Žáci základní školy pojedou náhradním autobusem.",
)
_RUSSIAN = (
    "Вчера в нашем городе открылась новая библиотека, которую строили почти три года.",
    "На открытие пришли сотни людей: родители с детьми, студенты и пенсионеры.",
    "Директор рассказала, что в фонде уже больше сорока тысяч книг, а вечером здесь будут проходить лекции.",
)
_FRENCH = (
    "La bibliothèque du quartier a rouvert ses portes après deux années de travaux très coûteux.",
    "Les élèves de l’école voisine étaient présents à la fête ; ils ont chanté et goûté des gâteaux.",
    "Le maire a déclaré que l’accès resterait gratuit, même le dimanche : « C’était une évidence », a-t-il ajouté.",
)
_TURKISH = (
    "Geçen hafta sonu köyümüzde büyük bir şenlik düzenlendi ve yüzlerce kişi katıldı.",
    "Çocuklar için oyunlar hazırlandı, yaşlılar ise çınar ağacının altında çay içip sohbet etti.",
    "Muhtar, gelecek yıl şenliğin iki gün süreceğini ve yeni yarışmalar ekleneceğini söyledi. Işıklar geceye kadar söndürülmedi.",
)
_HEBREW = (
    "הספרייה העירונית נפתחה מחדש אחרי שיפוץ שנמשך יותר משנתיים, ותושבים רבים הגיעו לאירוע.",
    "מנהלת הספרייה סיפרה שנוספו אלפי ספרים חדשים, וגם חדר קריאה מיוחד לילדים.",
    "בסוף השבוע הקרוב יתקיים מפגש עם סופרים, והכניסה תהיה חופשית לכל המשפחה.",
)
_ARABIC = (
    "افتتحت المدينة مكتبة جديدة في وسط الحي القديم بعد سنتين من العمل المتواصل.",
    "حضر الافتتاح عدد كبير من السكان، وقال المدير إن المكتبة تضم أكثر من أربعين ألف كتاب.",
    "وسوف تنظم المكتبة كل أسبوع قراءات للأطفال ومحاضرات للكبار، والدخول إليها مجاني للجميع.",
)
_GREEK = (
    "Η βιβλιοθήκη της πόλης άνοιξε ξανά τις πόρτες της ύστερα από δύο χρόνια εργασιών.",
    "Πολλοί κάτοικοι ήρθαν με τα παιδιά τους και διάλεξαν βιβλία για το καλοκαίρι.",
    "Ο δήμαρχος είπε ότι η είσοδος θα είναι ελεύθερη για όλους και ότι κάθε Σάββατο θα γίνονται συζητήσεις.",
)

LANGUAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "shift_jis": ("cp932", _JAPANESE),
    "euc-jp": ("euc-jp", _JAPANESE),
    "iso-2022-jp": ("iso-2022-jp", _JAPANESE),
    "gb18030": ("gb18030", (*_CHINESE, "其中有一个少见的字：㐀，还有一个符号：😀。")),
    "gbk": ("gbk", _CHINESE),
    "big5": ("big5", _TAIWANESE),
    "euc-kr": ("euc-kr", _KOREAN),
    "windows-1250": ("cp1250", _POLISH),
    "windows-1251": ("cp1251", _RUSSIAN),
    "windows-1252": ("cp1252", _FRENCH),
    "windows-1254": ("cp1254", _TURKISH),
    "windows-1255": ("cp1255", _HEBREW),
    "windows-1256": ("cp1256", _ARABIC),
    "koi8-r": ("koi8-r", _RUSSIAN),
    "iso-8859-2": ("iso-8859-2", _CZECH),
    "iso-8859-5": ("iso-8859-5", _RUSSIAN),
    "iso-8859-7": ("iso-8859-7", _GREEK),
    "utf-8": ("utf-8", (*_FRENCH, *_RUSSIAN)),
    "utf-8 with mark": ("utf-8-sig", _FRENCH),
    "utf-16 with mark": ("utf-16", _RUSSIAN),
    "utf-16-le": ("utf-16-le", _FRENCH),
    "utf-16-be": ("utf-16-be", _FRENCH),
}
"""By the name of a browser: a codec of Python, and sentences in a language that was written so."""


def unlabelled(name: str, *, long: bool) -> tuple[bytes, str]:
    """A page's or a text's bytes, and the text that they say."""
    codec, sentences = LANGUAGES[name]
    text = sentences[0]
    if long:
        paragraphs = "\n".join(f"<p>{sentence}</p>" for sentence in sentences * 12)
        text = f"<!doctype html>\n<html><head><title>{sentences[0]}</title></head>\n<body>\n{paragraphs}\n</body></html>\n"
    data = text.encode(codec)
    return data, codecs.decode(data, codec)
