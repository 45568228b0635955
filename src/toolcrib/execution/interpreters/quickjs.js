// What code finds in the engine beside the language itself, see quickjs.py: console, timers, and
// what the worker calls from outside.
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
