"""One compact file for each language that has rules, and the qualified names that it defines."""

from __future__ import annotations

from tests.unit.chunking.lisps import LISPS

PYTHON = """
import os
LIMIT: int = 2
low, high = 1, 9
type Pair = tuple[int, int]
if os.name == "nt":
    def chdir(path): ...
class Client(Base):
    retries = 3
    @property
    def name(self): ...
async def fetch(url): ...
"""

JAVASCRIPT = """
const load = (path) => { return 1 };
export const A = 3, go = function () {};
export default { data() {}, created: () => 1, name: 'x' };
class Client extends Base { static x = 1; #p = () => {}; get name() { return 1 } }
module.exports = { read() {}, write };
exports.run = function () {};
Client.prototype.stop = function () {};
function* walk() {}
const { one, two } = load();
"""

TYPESCRIPT = """
export interface Shape<T> { area: number; turn: () => void; scale(by: number): void }
export type Id = string;
enum Color { Red }
declare module "x" { function q(): void }
namespace Geo.Flat { export const unit = 1 }
abstract class Base { abstract m(): void; private f = () => 1; @dec() z(): void {} }
export function over(a: string): void;
export function over(a: number): void;
export default class {}
"""

TSX = """
export const App: React.FC = () => { return <div>x</div> };
export default function Page() { return <App /> }
"""

GO = """
package main
const (
	A = 1
	B
)
var v, w int
type Server[T any] struct { a int }
type (
	Runner interface { Run() error }
	Name = string
)
func (s *Server[T]) Serve(x int) error { return nil }
func (Server[T]) Close() {}
func main() { f := func() {} }
"""

RUST = """
#[derive(Debug)]
pub struct Foo<T> { a: T }
enum E { A }
trait Run { fn run(&self); const C: i32 = 1; }
impl<T> Run for Foo<T> { fn run(&self) {} }
impl a::Baz<'static> { pub async fn bar() {} }
mod inner { fn q() {} }
macro_rules! square { () => {} }
const K: i32 = 1;
type Short = i32;
extern "C" { fn ext(); }
"""

JAVA = """
package a.b;
public class Client<T> extends Base {
  int a = 1, b;
  Client() {}
  @Override void run(int x) {}
  enum Mode { ON { void z() {} }; void q() {} }
}
interface Shape { void area(); int X = 1; }
record Point(int a) { Point {} }
@interface Mark { String v(); }
"""

C = """
#ifndef A_H
#define A_H
#define LIMIT 1
#define SQUARE(x) x
typedef struct node { int a; } node_t;
struct S { int a; };
typedef int (*callback)(int);
static int *f(int a) { return 0; }
int (*g(void))(int) { return 0; }
int proto(int);
static const char *names[] = { "x" };
#ifdef Q
int q(void) { return 1; }
#else
int q2(void) { return 1; }
#endif
#endif
"""

CPP = """
namespace a::b {
class Client : public Base {
public:
  Client();
  ~Client();
  int m() const { return 1; }
  template<typename T> void t(T x) {}
  int field;
};
}
void ns::Client::run(int a) {}
template<class T> T Box<T>::get() { return 1; }
bool operator<(const A&, const B&) { return 1; }
Client::operator bool() const { return 1; }
int &Client::ref() { return x; }
using X = int;
enum class Mode { A };
namespace { int hidden() {} }
"""

CSHARP = """
namespace A.B;
[Attr]
public class Client<T> : Base {
  int a = 1, b;
  public int Size { get; set; }
  Client() {}
  void Run() {}
  event E Changed;
  static int operator +(Client a, Client b) => a;
  int this[int i] => 1;
}
record Point(int A);
interface IShape { void Area(); }
delegate void Done();
"""

RUBY = """
K = 1
module A::B
  class Client < Base
    LIMIT = 1
    def run(a); end
    def self.open; end
    class << self
      def shared; end
    end
    private def hidden; end
  end
end
def top; end
lower = 1
"""

PHP = r"""<?php
namespace A\B;
const K = 1;
function f($a) { return 1; }
abstract class Client extends Base { const X = 1; public $p = 1; public function m() {} }
interface Shape { function area(); }
trait Runs { function run() {} }
enum Mode: string { case A = 'a'; function label() {} }
"""

KOTLIN = """
package a.b
const val K = 1
class Client(val x: Int) : Base() {
    val size = 1
    fun run() {}
    companion object {
        fun open() {}
    }
    constructor() : this(1) {}
}
object Single { }
fun String.shout(a: Int): Int = 1
fun <T> List<T>.second() {}
typealias Id = Int
enum class Mode { A, B }
"""

SWIFT = """
let k = 1
public class Client: Base {
  var size: Int { return 1 }
  init() {}
  deinit { x() }
  static func open() {}
  subscript(i: Int) -> Int { return 1 }
}
struct Point { let x = 1 }
protocol Shape { var sides: Int { get }; func area() }
extension Client { func more() {} }
func == (a: A, b: A) -> Bool { return true }
typealias Id = Int
"""

SCALA = """
package a.b
class Client[T](x: Int) extends Base {
  val size = 1
  def run(a: Int): Int = 1
  type X = Int
}
object Client { def apply() = 1 }
trait Shape { def area: Int }
case class Point(a: Int)
extension (s: String)
  def shout = 1
"""

BASH = """
LIMIT=1
run() { echo 1; }
function stop { echo; }
if true; then
  maybe() { :; }
fi
export HOME_DIR=2
"""

LUA = """
local M = {}
local function hidden() end
function M.open() end
function M:close() end
M.run = function() end
M["stop"] = function() end
M.t = { inner = function() end }
return { last = function() end }
"""

ELIXIR = """
defmodule A.B do
  def f(x) when x > 1 do
    1
  end
  def f(x), do: 2
  defp hidden, do: 1
  defmacro build(x) do
    1
  end
  def a + b, do: 1
  @type t :: pair(1) | nil
  @opaque pair(a) :: {a, a}
  @callback moor!(a) :: t when a: var
  @macrocallback tie(a :: t) :: Macro.t()
  @optional_callbacks tie: 1
  defmodule In do
    def z(), do: 1
  end
end
defimpl P, for: X do
  def t(x), do: 1
end
"""

HASKELL = """
module A.B where
f :: Int -> Int
f 0 = 1
f n = n
data T a = A | B
newtype N = N Int
type S = Int
class Shape a where
  area :: a -> Int
instance Shape Int where
  area x = x
x <+> y = x
a, b :: Int
"""

ZIG = """
const std = @import("std");
pub const Foo = struct {
    a: u32,
    pub fn init() Foo { return .{}; }
};
pub fn main() !void {}
fn List(comptime T: type) type { return struct { fn push() void {} }; }
const E = enum { a, b };
"""

OCAML = """
open Stdune
module String = Stdlib.String
module Names = Set.Make (struct type t = string end)
module Quay : S = struct
  type t = { depth : int }
  let moor ship = ship
  module Inner = struct let tie () = 1 end
end
module type Ship = sig
  type t
  val sail : t -> int
end
type 'a kind = Big | Small of 'a
and other = None
exception Sunk of string
let ( >>= ) quay ship =
  let inner x = x in
  inner ship
and loop = function [] -> 1 | _ -> 2
let limit = 3
let (low, high) = 1, 2
let () = print_endline "x"
let%test "moors" = true
external berth : int -> int = "berth"
class point = object method get = 1 end
class type pen = object method put : int end
"""

ERLANG = """
-module(quay).
-export([moor/2]).
-record(ship, {mast, rope = 1}).
-define(LIMIT, 3).
-define(MAX(A), A).
-type depth() :: integer().
-callback berth(Args :: term()) -> ok.
-spec moor(integer(), integer()) -> ok.
moor(A, B) when A > 1 ->
    tie(A);
moor(_, B) ->
    other:tie(B).
tie(A) -> A.
"""

SOLIDITY = """
pragma solidity ^0.8.20;
import {A} from "./a.sol";
uint256 constant LIMIT = 3;
type Price is uint256;
error Failed(uint code);
function free(uint a) pure returns (uint) { return a; }
abstract contract Quay is Base {
    mapping(address => uint) private _held;
    enum State { Free, Taken }
    struct Berth { uint depth; }
    event Moored(address indexed by);
    modifier guarded() { _; }
    constructor(address a) Base(a) {}
    function moor(uint a) public returns (bool) { emit Moored(a); return true; }
    receive() external payable {}
}
interface IQuay { function moor(uint a) external; }
library Ropes { function tie(uint a) internal {} }
"""

JULIA = """
module Harbour
using Tables
const LIMIT = 3
depth = 4
abstract type Ship{T} <: Vessel end
mutable struct Quay{T<:Real}
    depth::T
    Quay(a) = new(a)
end
@enum State free=1 taken
Base.@kwdef struct Berth
    depth::Int = 1
end
@inline function moor!(quay::Quay, ship; fast=true)::Bool where {T}
    knots = 3
end
Base.push!(quay::Quay, ship::Any) = begin
    1
end
Base.:(==)(a::Quay, b::Quay) = true
area(x)::Int where T = x * x
(q::Quay)(x) = x
macro tie(args...)
end
for T in (Int, Float64)
    @eval begin
        half(x::$T) = x / 2
    end
end
if VERSION > v"1.0"
    stub() = 1
end
end
"""

SQL = """
CREATE TABLE IF NOT EXISTS s.users (id INT);
CREATE OR REPLACE VIEW active AS SELECT 1;
CREATE FUNCTION add(a int) RETURNS int AS $$ SELECT 1 $$ LANGUAGE sql;
CREATE INDEX by_name ON t (a);
SELECT * FROM users;
"""

CSS = """
:root { --a: 1 }
.card, .box > p { color: red }
@media (x) { .wide { a: b } }
"""

CASES: dict[str, tuple[str, str]] = {
    **LISPS,
    "python": (PYTHON, "LIMIT low Pair chdir Client Client.retries Client.name fetch"),
    "javascript": (
        JAVASCRIPT,
        "load A go data created Client Client.x Client.p Client.name read run Client.stop walk",
    ),
    "typescript": (
        TYPESCRIPT,
        "Shape Shape.turn Shape.scale Id Color q Geo.Flat Geo.Flat.unit Base Base.m Base.f Base.z over default",
    ),
    "tsx": (TSX, "App Page"),
    "go": (GO, "A B v Server Runner Runner.Run Name Server.Serve Server.Close main"),
    "rust": (
        RUST,
        "Foo E Run Run.run Run.C Foo Foo.run Baz Baz.bar inner inner.q square K Short ext",
    ),
    "java": (
        JAVA,
        "Client Client.a Client.Client Client.run Client.Mode Client.Mode.q "
        "Shape Shape.area Shape.X Point Point.Point Mark Mark.v",
    ),
    "c": (C, "LIMIT SQUARE node_t S callback f g proto names q q2"),
    "cpp": (
        CPP,
        "Client Client.Client Client.~Client Client.m Client.t Client.run Box.get operator< "
        "Client.operator_bool Client.ref X Mode hidden",
    ),
    "csharp": (
        CSHARP,
        "Client Client.a Client.Size Client.Client Client.Run Client.Changed Client.operator_+ Client.this "
        "Point IShape IShape.Area Done",
    ),
    "ruby": (
        RUBY,
        "K A.B A.B.Client A.B.Client.LIMIT A.B.Client.run A.B.Client.open A.B.Client.shared A.B.Client.hidden top",
    ),
    "php": (PHP, "K f Client Client.X Client.p Client.m Shape Shape.area Runs Runs.run Mode Mode.label"),
    "kotlin": (
        KOTLIN,
        "K Client Client.size Client.run Client.open Client.constructor Single String.shout List.second Id Mode",
    ),
    "swift": (
        SWIFT,
        "k Client Client.size Client.init Client.deinit Client.open Client.subscript Point Point.x Shape Shape.sides "
        "Shape.area Client Client.more == Id",
    ),
    "scala": (SCALA, "Client Client.size Client.run Client.X Client Client.apply Shape Shape.area Point shout"),
    "bash": (BASH, "LIMIT run stop maybe HOME_DIR"),
    "lua": (LUA, "M hidden M.open M.close M.run M.stop M.t last"),
    "elixir": (ELIXIR, "A.B A.B.f A.B.hidden A.B.build A.B.+ A.B.t A.B.pair A.B.moor! A.B.tie A.B.In A.B.In.z P P.t"),
    "ocaml": (
        OCAML,
        "String Names Quay Quay.t Quay.moor Quay.Inner Quay.Inner.tie Ship Ship.t Ship.sail kind other Sunk >>= loop "
        "limit berth point point.get pen pen.put",
    ),
    "erlang": (ERLANG, "quay ship LIMIT MAX depth berth moor tie"),
    "haskell": (HASKELL, "f T N S Shape Shape.area Shape Shape.area <+> a"),
    "zig": (ZIG, "std Foo Foo.init main List List.push E"),
    "solidity": (
        SOLIDITY,
        "LIMIT Price Failed free Quay Quay._held Quay.State Quay.Berth Quay.Moored Quay.guarded Quay.constructor "
        "Quay.moor Quay.receive IQuay IQuay.moor Ropes Ropes.tie",
    ),
    "julia": (
        JULIA,
        "Harbour Harbour.LIMIT Harbour.Ship Harbour.Quay Harbour.Quay.Quay Harbour.State Harbour.Berth Harbour.moor! "
        "Harbour.Base.push! Harbour.Base.== Harbour.area Harbour.tie Harbour Harbour.half Harbour.stub",
    ),
    "sql": (SQL, "users active add by_name"),
    "css": (CSS, ":root .card,_.box_>_p .wide"),
}
