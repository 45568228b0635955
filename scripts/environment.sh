# Sourced by the scripts beside it: makes .venv with the given extras, once, and again
# when what it should hold has changed. Needs nothing but Python 3.11 or newer.

environment() {
    extras=$1
    stamp=.venv/.installed-$(echo "$extras" | tr -c 'a-z\n' '-')
    if [ -x .venv/bin/python ] && [ -f "$stamp" ] &&
        [ "$stamp" -nt pyproject.toml ] && [ "$stamp" -nt constraints.txt ]; then
        return
    fi
    echo "Making .venv and installing toolcrib$extras; the first time this takes a minute." >&2
    python=$(find_python) || {
        echo "toolcrib needs Python 3.11 or newer, and none was found on PATH." >&2
        exit 1
    }
    if [ ! -x .venv/bin/python ]; then
        "$python" -m venv .venv || {
            echo "Could not make .venv with $python (on Debian: apt install python3-venv)." >&2
            exit 1
        }
    fi
    .venv/bin/python -m pip install --quiet --disable-pip-version-check \
        --constraint constraints.txt --editable ".$extras"
    touch "$stamp"
}

find_python() {
    for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
        if command -v "$name" >/dev/null 2>&1 &&
            "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    return 1
}
