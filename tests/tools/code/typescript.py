"""A project of TypeScript with most of what the language has, and its compiler."""

# ruff: noqa: E501 - programs of one line each

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.node.tools import ROOT, TOOLS
from tests.tools.code.programs import NODE

PACKAGE = TOOLS / "node_modules" / "typescript"
OPTIONS = {
    "strict": True,
    "target": "ES2022",
    "module": "commonjs",
    "moduleResolution": "node10",
    "ignoreDeprecations": "5.0",
    "experimentalDecorators": True,
    "jsx": "react",
    "jsxFactory": "h",
    "lib": ["ES2022"],
    "noImplicitReturns": True,
    "noFallthroughCasesInSwitch": True,
}
SHOP = {
    "tsconfig.json": json.dumps({"compilerOptions": OPTIONS, "include": ["src"]}),
    "src/globals.d.ts": "declare const console: { log(...values: unknown[]): void };\ndeclare function setTimeout(f: () => void, ms: number): number;\n",
    "src/generics.ts": """export interface Named { readonly name: string }
export interface Box<T extends Named = Named> { value: T; map<U extends Named>(f: (value: T) => U): Box<U> }
export function boxed<T extends Named>(value: T): Box<T> {
  return { value, map: (f) => boxed(f(value)) };
}
export type Unboxed<B> = B extends Box<infer Inner> ? Inner : never;
export const pair = <A, B>(first: A, second: B): [first: A, second: B] => [first, second];
export function pick<T extends object, K extends keyof T>(source: T, ...keys: K[]): Pick<T, K> {
  const result = {} as Pick<T, K>;
  for (const key of keys) result[key] = source[key];
  return result;
}
""",
    "src/overloads.ts": """export function parse(text: string): number;
export function parse(text: string, strict: true): number | never;
export function parse(text: string, strict?: boolean): number {
  const found = Number(text);
  if (strict && Number.isNaN(found)) throw new Error(`no number: ${text}`);
  return found;
}
export class Reader {
  private position = 0;
  static readonly LIMIT = 10;
  constructor(private readonly text: string, public label = 'reader') {}
  next(): string;
  next(count: number): string;
  next(count = 1): string {
    const part = this.text.slice(this.position, this.position + count);
    this.position += count;
    return part;
  }
  get rest(): string { return this.text.slice(this.position); }
  set skipped(count: number) { this.position += count; }
  protected reset(): void { this.position = 0; }
}
export abstract class Shape {
  abstract area(): number;
  describe(): string { return `${this.kind}:${this.area().toFixed(1)}`; }
  protected abstract readonly kind: string;
}
export class Circle extends Shape {
  protected readonly kind = 'circle';
  #radius: number;
  constructor(radius: number) { super(); this.#radius = radius; }
  area(): number { return Math.PI * this.#radius ** 2; }
}
export class Square extends Shape {
  protected readonly kind = 'square';
  constructor(readonly side: number) { super(); }
  area(): number { return this.side * this.side; }
}
""",
    "src/namespaces.ts": """export namespace Units {
  export const meter = 1;
  export const kilometer = meter * 1000;
  export type Length = { amount: number; unit: Unit };
  export enum Unit { Meter = 'm', Kilometer = 'km' }
  export namespace Convert { export const factor = (unit: Unit) => (unit === Unit.Meter ? meter : kilometer); }
}
export enum Level { Low = 1, Middle, High = Low + 10 }
export const enum Flag { Off, On }
export function format(level: Level): string { return `${format.prefix}${Level[level]}`; }
export namespace format { export const prefix = 'level '; }
export interface Options { depth: number }
export interface Options { width?: number }
export class Holder { items: number[] = []; }
export interface Holder { extra?: string }
""",
    "src/same.ts": """export interface Point { x: number; y: number }
export const Point = (x: number, y: number): Point => ({ x, y });
export type Color = 'red' | 'green';
export const Color = { red: '#f00', green: '#0f0' } as const satisfies Record<Color, string>;
const hidden = 41;
export { hidden as answer };
export default class Standard { value = hidden; }
export const created = Symbol('created');
""",
    "src/types.ts": """import type { Point } from './same';
import { type Named, boxed } from './generics';
export type Event = 'click' | 'focus';
export type Handler<E extends string> = `on${Capitalize<E>}`;
export type Handlers = { [E in Event as Handler<E>]?: (at: Point) => void };
export type Keys = keyof Handlers;
export type Made = ReturnType<typeof boxed<Named>>;
export type Coordinate = Point['x'];
export type Route = `/${string}/${number}`;
export const routes = { home: '/home/1', user: '/user/2' } satisfies Record<string, Route>;
export function isPoint(value: unknown): value is Point { return typeof value === 'object' && value !== null && 'x' in value; }
export function assertPoint(value: unknown): asserts value is Point { if (!isPoint(value)) throw new Error('no point'); }
export type Tree<T> = { leaf: T } | { nodes: Tree<T>[] };
export type Deep<T> = T extends (infer Item)[] ? Deep<Item> : T;
""",
    "src/decorators.ts": """export const log: string[] = [];
export function traced(_target: object, key: string, descriptor: PropertyDescriptor): void {
  const original = descriptor.value as (...values: unknown[]) => unknown;
  descriptor.value = function (this: unknown, ...values: unknown[]) { log.push(`${key}(${values.join()})`); return original.apply(this, values); };
}
export function registered(prefix: string) {
  return <T extends new (...values: any[]) => object>(target: T): void => { log.push(prefix + target.length); };
}
@registered('service ')
export class Service {
  @traced
  run(count: number): number { return count * 2; }
}
""",
    "src/view.tsx": """export interface Element { tag: string | Function; props: Record<string, unknown>; children: unknown[] }
declare global { namespace JSX { interface Element { tag: string | Function } interface IntrinsicElements { div: { id?: string; children?: unknown }; span: { children?: unknown } } interface ElementChildrenAttribute { children: {} } } }
export function h(tag: string | Function, props: Record<string, unknown> | null, ...children: unknown[]): Element {
  return { tag, props: props ?? {}, children };
}
interface TitleProps { text: string; big?: boolean; children?: unknown }
export const Title = ({ text, big = false }: TitleProps) => <span>{big ? text.toUpperCase() : text}</span>;
export const Parts = { Title };
export function render(node: unknown): string {
  if (typeof node !== 'object' || node === null) return String(node);
  const { tag, props, children } = node as Element;
  if (typeof tag === 'function') return render(tag({ ...props, children }));
  return `<${tag}>${children.map(render).join('')}</${tag}>`;
}
export const page = (name: string) => <div id="page"><Title text={name} big /><Parts.Title text="small" /></div>;
""",
    "src/index.ts": """export * from './generics';
export { parse as read, Reader } from './overloads';
export * as shapes from './overloads';
export { default, answer, Point } from './same';
export type { Color } from './same';
export { Units, Level, Flag, format } from './namespaces';
""",
    "src/main.ts": """import Standard, { answer, boxed, Flag, format, Level, pair, pick, Point, read, Reader, shapes, Units } from './index';
import type { Box, Color, Named, Unboxed } from './index';
import { Color as Colors, created } from './same';
import { Holder, type Options } from './namespaces';
import { assertPoint, isPoint, routes, type Handlers, type Keys, type Coordinate, type Tree, type Deep } from './types';
import { log, Service } from './decorators';
import { page, render } from './view';

const box: Box<Named> = boxed({ name: 'a' }).map((value) => ({ name: `${value.name}!` }));
const inner: Unboxed<typeof box> = box.value;
console.log(inner.name, pair(1, 'b'), pick({ a: 1, b: 2 }, 'a'));
console.log(read('12'), read('7', true));
const reader = new Reader('abcdef');
reader.skipped = 1;
console.log(reader.next(), reader.next(2), reader.rest, reader.label, Reader.LIMIT);
const figures: shapes.Shape[] = [new shapes.Circle(1), new shapes.Square(2)];
for (const figure of figures) console.log(figure.describe());
const length: Units.Length = { amount: 2, unit: Units.Unit.Kilometer };
console.log(length.amount * Units.Convert.factor(length.unit), format(Level.High), Level.Middle, Flag.On);
const point: Point = Point(1, 2);
const { x, y: vertical }: Point = point;
const unknownPoint: unknown = point;
assertPoint(unknownPoint);
const color: Color = 'red';
console.log(x, vertical, unknownPoint.y, isPoint(3), Colors[color], answer, new Standard().value, created.toString());
const handlers: Handlers = { onClick: (at) => console.log('clicked', at.x) };
const key: Keys = 'onClick';
handlers[key]?.(point);
const holder = new Holder();
holder.extra = 'more';
const options: Options = { depth: 1, width: 2 };
const coordinate: Coordinate = options.depth;
const tree: Tree<number> = { nodes: [{ leaf: 1 }] };
const deep: Deep<number[][]> = 5;
console.log(holder, coordinate, JSON.stringify(tree), deep, routes.home);
console.log(new Service().run(4), log, render(page('title')));
""",
}


def compiled(folder: Path) -> dict[str, Any]:
    """What the compiler and the program say of each project of a folder."""
    if NODE is None or not PACKAGE.is_dir():
        pytest.skip("typescript is not installed: scripts/install-node-tools")
    script = ROOT / "tests" / "node" / "compile.cjs"
    done = subprocess.run(
        [NODE, str(script), str(PACKAGE), str(folder)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found
