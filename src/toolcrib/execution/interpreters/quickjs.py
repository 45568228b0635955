"""Runs in a worker process: JavaScript that only computes, without files, network or clock."""

from __future__ import annotations

import re
import time
from typing import Any

import quickjs  # type: ignore[import-untyped,unused-ignore]

from toolcrib.core.errors import TimedOut, TooLarge

MAX_OUTPUT_CHARS = 2_000_000
MEMORY_BYTES = 256_000_000
STACK_BYTES = 512 * 1024
SHIM = r"""
(() => {
  const written = []; let size = 0;
  const write = text => {
    size += text.length;
    if (size > MOST_OUTPUT) throw new RangeError('too much output');
    written.push(text);
  };
  const evaluate = globalThis.eval;
  const show = (value, depth, seen) => {
    const kind = typeof value;
    if (kind === 'string') return depth ? JSON.stringify(value) : value;
    if (kind === 'bigint') return `${value}n`;
    if (kind === 'function') return `[Function: ${value.name || '(anonymous)'}]`;
    if (kind !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
    if (seen.includes(value)) return '[Circular]';
    if (value instanceof Error) return `${value}\n${value.stack || ''}`.trimEnd();
    if (value instanceof Date) return isNaN(value) ? 'Invalid Date' : value.toISOString();
    if (value instanceof RegExp) return String(value);
    if (value instanceof Promise) return 'Promise {}';
    if (depth > 4) return Array.isArray(value) ? '[Array]' : '[Object]';
    const inner = item => show(item, depth + 1, [...seen, value]);
    const most = 1000, more = count => count > most ? [`... ${count - most} more`] : [];
    const list = items => [...items].slice(0, most);
    if (Array.isArray(value) || ArrayBuffer.isView(value)) {
      const name = Array.isArray(value) ? '' : `${value.constructor.name}(${value.length}) `;
      const parts = [...list(value).map(inner), ...more(value.length)];
      return `${name}[${parts.length ? ` ${parts.join(', ')} ` : ''}]`;
    }
    if (value instanceof Map) {
      const parts = list(value).map(([k, v]) => `${inner(k)} => ${inner(v)}`);
      return `Map(${value.size}) {${[...parts, ...more(value.size)].join(', ')}}`;
    }
    if (value instanceof Set) {
      return `Set(${value.size}) {${[...list(value).map(inner), ...more(value.size)].join(', ')}}`;
    }
    const keys = Object.keys(value);
    const plain = /^[A-Za-z_$][\w$]*$/;
    const parts = list(keys).map(
      key => `${plain.test(key) ? key : JSON.stringify(key)}: ${inner(value[key])}`);
    const name = value.constructor && value.constructor !== Object && value.constructor.name;
    const all = [...parts, ...more(keys.length)];
    return `${name ? `${name} ` : ''}{${all.length ? ` ${all.join(', ')} ` : ''}}`;
  };
  const line = (...given) => write(given.map(item => show(item, 0, [])).join(' ') + '\n');
  const timers = new Map(); let next = 1, now = 0;
  const later = (call, after, given, every) => {
    timers.set(next, { call, due: now + Math.max(+after || 0, 0), given, every });
    return next++;
  };
  Object.assign(globalThis, {
    console: { log: line, info: line, debug: line, warn: line, error: line, table: line,
               dir: line, trace: line,
               assert: (ok, ...rest) => ok || line('Assertion failed:', ...rest),
               time: () => {}, timeEnd: () => {}, group: line, groupEnd: () => {} },
    print: line,
    setTimeout: (call, after, ...given) => later(call, after, given),
    setInterval: (call, after, ...given) => later(call, after, given, Math.max(+after || 1, 1)),
    setImmediate: (call, ...given) => later(call, 0, given),
    clearTimeout: id => { timers.delete(id); },
    clearInterval: id => { timers.delete(id); },
    queueMicrotask: call => { Promise.resolve().then(call); },
    structuredClone: value => JSON.parse(JSON.stringify(value)),
  });
  let failed = '', value;
  const fail = error => { failed = failed || show(error, 0, []) || 'failed'; };
  const outside = {
    run: code => {
      value = evaluate(code);
      if (value instanceof Promise) value.then(given => { value = given; }, fail);
    },
    // Time does not pass: the next timer is due at once.
    tick: () => {
      let first = 0;
      for (const [id, timer] of timers) {
        if (!first || timer.due < timers.get(first).due) first = id;
      }
      if (!first) return false;
      const timer = timers.get(first);
      now = timer.due;
      if (timer.every) timer.due += timer.every; else timers.delete(first);
      timer.call(...timer.given);
      return true;
    },
    end: () => {
      const empty = value === undefined || value instanceof Promise;
      if (!failed && !written.length && !empty) write(show(value, 1, []) + '\n');
    },
    output: () => written.join(''),
    failed: () => failed,
  };
  return name => outside[name];
})()
""".replace("MOST_OUTPUT", str(MAX_OUTPUT_CHARS))
OUR_FRAMES = re.compile(r"\n\s+at eval \(native\)\n\s+at run \(<input>:[\s\S]*$")
WORDS = ("await", "import", "export")


def prepare() -> None:
    """Load the engine."""
    run({"code": "1", "seconds": 1.0}, b"")


def run(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Run `code`, at most `seconds`; why it `failed` and what it wrote, as UTF-8.

    Raises:
        TimedOut, TooLarge: it takes too long, too much memory, or writes too much.
    """
    del data
    end = time.monotonic() + request["seconds"]
    context = quickjs.Context()
    context.set_memory_limit(MEMORY_BYTES)
    context.set_max_stack_size(STACK_BYTES)
    outside = context.eval(SHIM)
    failed = ""
    try:
        _execute(context, outside, request["code"], end)
        failed = OUR_FRAMES.sub("", str(outside("failed")()))
    except (quickjs.JSException, quickjs.StackOverflow) as error:
        failed = OUR_FRAMES.sub("", str(error).strip())
    if "InternalError: interrupted" in failed:
        raise TimedOut(f"The code was stopped after {request['seconds']:g} seconds.")
    if "too much output" in failed:
        raise TooLarge(f"The code writes more than {MAX_OUTPUT_CHARS:,} characters.")
    if failed == "null" or "out of memory" in failed:
        raise TooLarge(f"The code needs more than {MEMORY_BYTES // 1_000_000} MB of memory.")
    return {"failed": failed}, str(outside("output")()).encode("utf-8", "replace")


def _execute(context: Any, outside: Any, code: str, end: float) -> None:
    """Run the code, and then what waits, until nothing does or the time is over."""
    _limit(context, end)
    try:
        outside("run")(code)
    except quickjs.JSException as error:
        if "SyntaxError" not in str(error) or not any(word in code for word in WORDS):
            raise
        context.module(code)
    while True:
        _limit(context, end)
        while context.execute_pending_job():
            _limit(context, end)
        if not outside("tick")():
            break
    outside("end")()
    context.set_time_limit(-1)


def _limit(context: Any, end: float) -> None:
    left = end - time.monotonic()
    if left <= 0:
        raise quickjs.JSException("InternalError: interrupted")
    context.set_time_limit(left)
