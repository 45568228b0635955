// Runs in Node.js, see javascript.py.
//
// It reads the code from its input and runs it as a script, so that `require` works and the
// value of a last expression can be shown, as a console would, where nothing else was. What is
// written as a module, with `import` or `await` at its top, is handed on to Node as one.
(() => {
const fs = require('node:fs'), vm = require('node:vm'), util = require('node:util');
let code = fs.readFileSync(0, 'utf8');
const strip = require('node:module').stripTypeScriptTypes;
if (strip) {
  // Never of what is JavaScript already: `f(a < b, c > (d))` means another thing in TypeScript.
  try { new vm.Script(code); } catch {
    try { code = strip(code); } catch { /* neither: its own fault is shown below */ }
  }
}
let wrote = false;
const write = process.stdout.write;
process.stdout.write = function (...given) { wrote = true; return write.apply(this, given); };
globalThis.require = require; globalThis.module = module; globalThis.exports = module.exports;
globalThis.__filename = 'code.js'; globalThis.__dirname = process.cwd();
let script;
try {
  script = new vm.Script(code, {
    filename: 'code.js',
    importModuleDynamically: vm.constants && vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
} catch (error) {
  if (/\bimport\b|\bexport\b|\bawait\b/.test(code)) {
    const { status, signal } = require('node:child_process').spawnSync(
      process.execPath, ['--input-type=module', '-'],
      { input: code, stdio: ['pipe', 'inherit', 'inherit'] });
    process.exit(signal ? 1 : status);
  }
  throw error;
}
const value = script.runInThisContext();
if (value !== undefined && !wrote && !(value instanceof Promise)) {
  process.stdout.write(util.inspect(value, { maxStringLength: 20000 }) + '\n');
}
})();
