"""Forms of a word meet in one stem."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.text.stems import bare, english, german, spanish


@each_case(
    ("stem", "words"),
    [
        (english, "modify modified modifies"),
        (english, "delete deletes deleted deleting deletion"),
        (english, "document documents documentation"),
        (english, "run runs running runner ran"),
        (english, "write writes wrote written writing"),
        (german, "schreiben schreibt geschrieben schrieb"),
        (german, "verschieben verschoben verschiebt"),
        (german, "finden gefunden findet"),
        (german, "abbrechen abgebrochen"),
        (spanish, "encontrar encuentra encuéntrame"),
        (spanish, "mover mueve muévelo moviendo"),
        (spanish, "escribir escrito escribe"),
        (german, "Datei Dateien"),
        (german, "Ordner Ordners Ordnern"),
        (german, "sichern Sicherung Sicherungen sichert"),
        (german, "lösche löschen löscht gelöscht"),
        (german, "anhängen angehängt anzuhängen"),
        (german, "Name Namen"),
        (german, "Größe Größen"),
        (spanish, "archivo archivos"),
        (spanish, "buscar busca busque buscando búscame buscarlo"),
        (spanish, "guardar guarda guárdalo guardado"),
        (spanish, "modificación modificaciones modificar"),
        (spanish, "carpeta carpetas"),
        (spanish, "pagar pague paga"),
    ],
)
def test_forms_meet(stem, words):
    assert len({stem(word.casefold()) for word in words.split()}) == 1


@each_case(
    ("stem", "words"),
    [
        (german, "Datei Datum Daten"),
        (german, "Zeile Ziele"),
        (spanish, "carpeta carta"),
        (english, "file fill"),
    ],
)
def test_other_words_stay_apart(stem, words):
    stems = [stem(word.casefold()) for word in words.split()]
    assert len(set(stems)) > 1


@given(st.sampled_from([english, german, spanish, bare]), st.text(max_size=30))
def test_any_word_has_a_stem(stem, word):
    assert stem(word) == stem(word)
    assert not word.strip() or stem("x" + word)
