"""English words that say much the same, so that a question may use others than its page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from toolcrib.text.bm25 import terms

_WORDS = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
MAX_PHRASE_WORDS = 3
# Words that say much the same, a group a line; _ stands in phrases.
_TABLE = """\
company business firm enterprise corporation organisation organization cooperative
founded started established created set_up launched began begun opened inception origin
owner own owned proprietor belongs possess
write written wrote author writer by_whom
lead led leader head charge manage director boss chief in_charge run
price cost fee charge fare rate expensive cheap pay payment paid ticket
refund reimburse reimbursed money_back paid_back repay compensation compensate
cancel cancelled canceled called_off call_off dropped abandon
free gratis complimentary without_charge no_cost
trip journey crossing travel ride voyage route passage
duration long take takes lasts last time minutes hours
car automobile vehicle auto motor
bicycle bike cycle
boat ship vessel ferry
plane aircraft airplane flight
train railway rail
book booked reserve reservation booking reserved appointment
child children kid kids minor youngster
adult grown-up grownup grown
people person persons passenger passengers visitor visitors traveller guest human
pupil pupils student students school schoolchild
dog dogs puppy pet pets animal animals hound
leash lead
luggage suitcase suitcases baggage bag bags pieces
phone telephone call number
storm wind gale weather tempest
stranded stuck
sleep overnight night accommodation bed stay
disabled wheelchair accessible accessibility handicap handicapped disability barrier-free
lift elevator
electric electricity battery power powered current
largest biggest greatest most maximum max larger highest
smallest least minimum min lowest fewest
capacity takes carries holds seats room
lost forgot forgotten left_behind missing found lose vanish
pick_up collect collected retrieve kept recover
police officer
allowed may permitted can permission permit
forbidden banned prohibited not_allowed may_not
measure measured measurement survey record records reading
shrink shrinking retreat retreating shrank recede loses drew smaller
grow grew grown growth advance forward increase rise bigger expand extended
fast quick quickly speed rapidly rate
building house hut home structure
destroyed buried burying ruined demolished wrecked
thick thickness deep depth
river stream brook water
dam barrier barrage
raise raised enlarge enlargement enlarged lift heighten
peak highest maximum most top
plant planted cultivate grow sow
farmer farmers grower growers agriculture
corn maize
instead place replace replacement substitute
approve approved accept accepted agree agreed adopted vote
reject rejected turned_down turn_down refuse refused decline declined denied
parliament politicians politician government council assembly lawmakers
pipeline conduit pipe
desert sahara sand dust
melt thaw melted melting
cover covers covered blanket blankets wrap cloth protect protection shield
accurate accuracy precise precision exact exactly within
equipment device tool instrument receiver apparatus hammer
require required requirements needs need needed necessary must
hardware processor cpu machine disk computer
memory ram
install installing installation set_up setup installed
encrypt encryption encrypted tls ssl secure certificate
connect connection connections connecting client clients user users simultaneous concurrent traffic
additional extra more another further each
limit maximum restriction cap
data documents records content contents writes information
outage power_cut blackout loss
log journal
merge merged folded combined joined combine
backup copy copies save saved replica replicas snapshot
restore recover recovering recovery restored
stop stopped shut_down shutdown halt off terminate
follower followers replica replicas secondary read-only copies
leader primary master main
crash crashes crashed fails failure failed lost dies broken
search look_for find query lookup searching
phrase phrases expression quotes wording
delete drop remove erase deleted removed
damaged corrupt corrupted broken defective
error errors fault mistake problem problems trouble wrong
undo undone go_back revert reverse roll_back rollback
upgrade upgrading migrate migrating update moving migration
old older previous earlier former
new newer latest recent current nowadays now today
yearly annual annually year per_year
role roles permission permissions right rights
make making mix prepare prepared produce create made build
leaven starter sourdough yeast
spoiled gone_bad go_bad rotten off mould bad ruined
fridge refrigerator cold cool
freeze frozen freezer deep_freeze
keep keeps kept store storing stored survive last preserve storage
ingredient ingredients flour quantities quantity amounts amount
ready done finished complete completed
oven heat bake baking baked hot temperature
temperature degrees hot °c heat
middle inside centre center core interior
cool cooling wait right_away immediately at_once
cut slice slices slicing carve
flat collapse collapsed spreads sunk
hole cavity gap opening
crust outside surface skin
pale brown dark darkens browned light
sour acidic acid tart
taste tastes flavour flavor
why because reason cause caused means
where place location located kept address
when date time day year
help aid support assistance service
begin beginning start first
end finish finished close closes closing last
open opens opening hours
buy purchase order bought
sell sold sale
job work employment occupation profession
doctor physician medical
ill sick disease illness
die died death dead killed
born birth birthday
marry married wife husband spouse wedding
live lives living reside resident residence
film movie picture
city town village municipality
country nation state
war battle conflict fighting
king monarch ruler emperor queen
language tongue spoken speak
population inhabitants people residents
size big large area dimensions
weight weigh weighs heavy mass
height tall high
age old years
colour color
rain wet snow
money currency euro dollars cash
tax taxes duty levy
law legal rule rules regulation
danger dangerous risk hazard unsafe
safe safety secure
fix repair solve solution resolve remedy
choose select pick option
show display shown view
send sent deliver delivered delivery shipping
change changed modify alter edit
name called title named
use used usage apply
supply supplies supplied provide provides feeds waters turns
discount reduction rebate reduced cheaper less
pensioner pensioners retired senior seniors elderly
big great large huge
closed shut close
final last
borrow lend lent loan
eat eaten food meal lunch dinner drink
break broke broken damage damaged damages
helper helpers volunteer volunteers
reply answer respond response
letter mail email write post
institution house museum
transport bus tram train metro subway
stroller pram buggy
baby infant nursing toddler
photo photos photograph photographs picture pictures image images
publish published publication print
build built construct constructed construction make made
clock watch timepiece
teach teacher training course lesson learn
holiday holidays vacation leave
shop store market
road street way
address location
team staff crew employees
attack assault hit
win won victory winner
lose lost defeat
think opinion believe view
important key main essential
"""


@cache
def _groups() -> dict[str, frozenset[str]]:
    """The terms that go with each term or phrase of the table; phrases as `called off`."""
    found: dict[str, set[str]] = {}
    for line in _TABLE.splitlines():
        entries = [entry.replace("_", " ") for entry in line.split()]
        group = {term for entry in entries if " " not in entry for term in terms(entry)}
        for entry in entries:
            for key in [entry] if " " in entry else terms(entry):
                found.setdefault(key, set()).update(group)
    return {key: frozenset(group) for key, group in found.items()}


def synonyms(question: str) -> dict[str, frozenset[str]]:
    """The terms that say much the same as each word of a question, as the word is written.

    Both words of a phrase such as "called off" have those of the phrase.
    """
    groups = _groups()
    words = _WORDS.findall(question)
    found: dict[str, set[str]] = {}
    for at, word in enumerate(words):
        _add(found, [word], (groups.get(term, frozenset()) for term in terms(word)))
        for length in range(2, MAX_PHRASE_WORDS + 1):
            phrase = words[at : at + length]
            _add(found, phrase, [groups.get(" ".join(phrase).casefold(), frozenset())])
    return {word: frozenset(group) for word, group in found.items()}


def _add(
    found: dict[str, set[str]], words: Iterable[str], groups: Iterable[frozenset[str]]
) -> None:
    for group in groups:
        for word in words if group else ():
            found.setdefault(word, set()).update(group)
