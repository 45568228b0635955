-- The tables of an index. A line of ==== parts the versions: one that was released stays as it is,
-- and what comes goes to the end.
CREATE TABLE entry (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    kind TEXT NOT NULL,
    date REAL NOT NULL,
    fingerprint TEXT NOT NULL,
    facts TEXT NOT NULL,
    chars INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    indexed REAL NOT NULL
);
CREATE TABLE label (
    label TEXT NOT NULL,
    entry INTEGER NOT NULL REFERENCES entry ON DELETE CASCADE,
    PRIMARY KEY (label, entry)
) WITHOUT ROWID;
CREATE INDEX label_entry ON label (entry);
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    entry INTEGER NOT NULL REFERENCES entry ON DELETE CASCADE,
    number INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    line INTEGER NOT NULL,
    last_line INTEGER NOT NULL,
    page INTEGER NOT NULL,
    last_page INTEGER NOT NULL,
    headings TEXT NOT NULL,
    digest BLOB NOT NULL
);
CREATE INDEX chunk_entry ON chunk (entry, number);
CREATE INDEX chunk_digest ON chunk (digest);
CREATE VIRTUAL TABLE words USING fts5 (
    text, around, title, parts, tokenize = "porter unicode61 remove_diacritics 2"
);
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(3.0, 1.0, 1.0, 3.0)');
CREATE TABLE term (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE term_trigrams USING fts5 (
    term, tokenize = 'trigram', content = 'term', content_rowid = 'id'
);
CREATE TRIGGER term_added AFTER INSERT ON term BEGIN
    INSERT INTO term_trigrams (rowid, term) VALUES (new.id, new.term);
END;
CREATE TABLE space (
    id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    dims INTEGER NOT NULL,
    side TEXT NOT NULL,
    file INTEGER NOT NULL,
    weight REAL,
    UNIQUE (model, dims, side)
);
CREATE TABLE vector (
    space INTEGER NOT NULL REFERENCES space ON DELETE CASCADE,
    digest BLOB NOT NULL,
    slot INTEGER NOT NULL,
    PRIMARY KEY (space, digest)
) WITHOUT ROWID;
CREATE UNIQUE INDEX vector_slot ON vector (space, slot);
-- ====
-- Trigrams are written once for many words. Weights below one keep the number of times
-- counting that a chunk has a word; a title says in few words what a chunk is about.
DROP TRIGGER term_added;
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(1.0, 0.33, 1.5, 1.0)');
-- ====
-- They are measured anew: vectors count more since they are compared from their mean.
UPDATE space SET weight = NULL;
