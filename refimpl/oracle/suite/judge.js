// Judges answers to a suite, by the rule of RULE.md:  node judge.js SUITE ANSWERS.jsonl
// The exit code is 0 if no case fails, 1 if one fails, 2 if a file is not what it should be.
"use strict";
const fs = require("fs"), path = require("path"), crypto = require("crypto");

const WORDS = { nan: NaN, inf: Infinity, "-inf": -Infinity };

// A number of JSON, or one of the words; anything else is undefined.
const number = (x) => (typeof x === "number" ? x : typeof x === "string" && Object.hasOwn(WORDS, x) ? WORDS[x] : undefined);

// To half precision: the nearest number, of two the even one.
function half(x) {
  if (!Number.isFinite(x) || x === 0) return x;
  const size = Math.abs(x), step = 2 ** (Math.max(Math.floor(Math.log2(size)), -14) - 10);
  let whole = Math.floor(size / step);
  const rest = size / step - whole;
  if (rest > 0.5 || (rest === 0.5 && whole % 2 === 1)) whole += 1;
  return Math.sign(x) * (whole * step > 65504 ? Infinity : whole * step);
}

const ROUND = { float16: half, float32: Math.fround };
const rounding = (dtype) => ROUND[dtype] || ((x) => x);

// What is wrong with an array of an answer; empty where nothing is.
function difference(wanted, got) {
  if (got === undefined || got === null) return " is not in the trace";
  if (JSON.stringify(got.shape) !== JSON.stringify(wanted.shape)) return ` has not the shape [${wanted.shape}]`;
  if (got.dtype !== wanted.dtype) return ` has not the type ${wanted.dtype}`;
  if (!Array.isArray(got.elements)) return ": its elements are no list";
  const size = wanted.shape.reduce((a, b) => a * b, 1), round = rounding(wanted.dtype);
  const values = got.elements.map(number);
  if (values.includes(undefined)) return ": an element is neither a number nor one of the words nan, inf, -inf";
  if (values.length !== size) return ` has ${values.length} elements, not ${size}`;
  if (wanted.bound === "free") return "";
  for (let i = 0; i < size; i++) {
    const bound = Array.isArray(wanted.bound) ? wanted.bound[i] : wanted.bound;
    if (bound === "free") continue;
    const value = round(values[i]), right = number(wanted.elements[i]);
    const same = value === round(right) || (Number.isNaN(value) && Number.isNaN(right));
    if (!same && !(Math.abs(value - right) <= bound)) return `[${i}] is ${value}, expected ${right} within ${bound}`;
  }
  return "";
}

// What a case says of an answer: [status, reason].
function verdict(wanted, answer) {
  if ("unsupported" in answer) return ["unsupported", ""];
  if ("refused" in answer) return ["failed", `refused: ${answer.refused}`];
  if (typeof answer.trace !== "object" || answer.trace === null) return ["failed", "the trace is no object"];
  for (const [name, array] of Object.entries(wanted.trace)) {
    const wrong = difference(array, Object.hasOwn(answer.trace, name) ? answer.trace[name] : undefined);
    if (wrong) return ["failed", name + wrong];
  }
  return ["passed", ""];
}

// The objects of a file of JSON lines.
function* lines(file, hash) {
  const bytes = fs.readFileSync(file);
  const found = crypto.createHash("sha256").update(bytes).digest("hex");
  if (hash && hash !== found) throw new Error(`${file} is not the file that the manifest names`);
  for (let begin = 0, count = 1; begin < bytes.length; count++) {
    const end = bytes.indexOf(10, begin) < 0 ? bytes.length : bytes.indexOf(10, begin);
    const text = bytes.toString("utf8", begin, end).trim();
    begin = end + 1;
    if (!text) continue;
    let value;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw new Error(`${file}, line ${count}: no JSON: ${error.message}`);
    }
    if (typeof value !== "object" || value === null) throw new Error(`${file}, line ${count}: not an object`);
    yield value;
  }
}

function main(folder, file) {
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, "manifest.json"), "utf8"));
  const cases = new Map(), counts = { passed: 0, failed: 0, unsupported: 0, missing: 0 }, judged = new Set();
  for (const part of manifest.files) {
    for (const each of lines(path.join(folder, part.file), part.sha256)) cases.set(each.case, { trace: each.trace });
  }
  for (const answer of lines(file)) {
    if (!cases.has(answer.case)) throw new Error(`${file}: the suite has no case ${answer.case}`);
    if (judged.has(answer.case)) throw new Error(`${file}: case ${answer.case} is answered twice`);
    const forms = ["trace", "refused", "unsupported"].filter((form) => form in answer);
    if (forms.length !== 1) throw new Error(`${file}: the answer to ${answer.case} has one of trace, refused and unsupported`);
    judged.add(answer.case);
    const [status, reason] = verdict(cases.get(answer.case), answer);
    counts[status] += 1;
    if (status === "failed") console.log(`failed ${answer.case}: ${reason}`);
  }
  if (!judged.size) throw new Error(`${file}: no case is answered`);
  counts.missing = cases.size - judged.size;
  console.log(`${cases.size} cases: ${Object.entries(counts).map(([name, count]) => `${count} ${name}`).join(", ")}`);
  return counts.failed ? 1 : 0;
}

try {
  if (process.argv.length !== 4) throw new Error("write: node judge.js SUITE ANSWERS.jsonl");
  process.exitCode = main(process.argv[2], process.argv[3]);
} catch (error) {
  console.error(`judge: ${error.message}`);
  process.exitCode = 2;
}
