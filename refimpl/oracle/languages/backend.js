// A backend of `refimpl oracle` in JavaScript, of level 2: seven operators, their gradients, and the steps of an
// executor. `refimpl oracle check "command:node backend.js"` starts it and talks to it through standard input and output.
"use strict";
const fs = require("fs");

// --- arrays: a shape, and float32 elements in C order. Float32Array rounds whatever is stored in it. ---------------

const size = (shape) => shape.reduce((product, side) => product * side, 1);
const array = (shape, values) => ({ shape, values: values || new Float32Array(size(shape)) });
const like = (x, values) => array(x.shape, values);
const add = (x, y) => like(x, x.values.map((value, i) => value + y.values[i]));
const multiply = (x, y) => like(x, x.values.map((value, i) => value * y.values[i]));

// Side `back` of a shape, counted from its end: 1 where the shape has no more sides.
const side = (shape, back) => (back <= shape.length ? shape[shape.length - back] : 1);

// For each element of the shape `out`: which element of an array of another shape is broadcast to it.
function sources(shape, out) {
  const found = new Int32Array(size(out));
  for (let i = 0; i < found.length; i++) {
    for (let back = 1, rest = i, step = 1; back <= shape.length; back++) {
      if (side(shape, back) > 1) found[i] += (rest % side(out, back)) * step;
      rest = Math.floor(rest / side(out, back));
      step *= side(shape, back);
    }
  }
  return found;
}

// x (n, k), w (m, k) -> (n, m): sums of products, where `at` gives the places of both factors.
function sums(out, n, m, k, at, x, w) {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      let sum = 0;
      for (let c = 0; c < k; c++) {
        const [a, b] = at(i, j, c);
        sum += x.values[a] * w.values[b];
      }
      out.values[i * m + j] = sum;
    }
  }
  return out;
}

// --- operators: attributes are texts, as a symbol file of MXNet has them ---------------------------------------------

const isTrue = (text) => text === "True" || text === "true" || text === "1";

const OPERATORS = {
  relu: {
    forward: (attrs, x) => like(x, x.values.map((value) => (value <= 0 ? 0 : value))),
    backward: (attrs, g, y) => [like(g, g.values.map((slope, i) => slope * (y.values[i] > 0 ? 1 : y.values[i])))],
  },
  exp: {
    forward: (attrs, x) => like(x, x.values.map(Math.exp)),
    backward: (attrs, g, y) => [multiply(g, y)],
  },
  tanh: {
    forward: (attrs, x) => like(x, x.values.map(Math.tanh)),
    backward: (attrs, g, y) => [like(g, g.values.map((slope, i) => slope * (1 - y.values[i] * y.values[i])))],
  },
  elemwise_add: { forward: (attrs, x, y) => add(x, y), backward: (attrs, g) => [g, g] },
  elemwise_mul: {
    forward: (attrs, x, y) => multiply(x, y),
    backward: (attrs, g, out, x, y) => [multiply(g, y), multiply(g, x)],
  },
  broadcast_add: {
    forward(attrs, x, y) {
      const longer = x.shape.length > y.shape.length ? x.shape : y.shape;
      const out = array(longer.map((_, axis) => {
        const back = longer.length - axis;
        return Math.max(side(x.shape, back), side(y.shape, back));
      }));
      const [a, b] = [sources(x.shape, out.shape), sources(y.shape, out.shape)];
      out.values.forEach((_, i) => { out.values[i] = x.values[a[i]] + y.values[b[i]]; });
      return out;
    },
    backward: (attrs, g, out, ...inputs) => inputs.map((x) => {
      const slope = like(x);
      sources(x.shape, out.shape).forEach((place, i) => { slope.values[place] += g.values[i]; });
      return slope;
    }),
  },
  FullyConnected: {
    forward(attrs, x, w, bias) {
      const [m, k] = w.shape;
      const n = size(x.shape) / k;
      const flat = attrs.flatten === undefined || isTrue(attrs.flatten);
      const out = array(flat ? [n, m] : [...x.shape.slice(0, -1), m]);
      sums(out, n, m, k, (i, j, c) => [i * k + c, j * k + c], x, w);
      return bias ? like(out, out.values.map((value, i) => value + bias.values[i % m])) : out;
    },
    backward(attrs, g, out, x, w, bias) {
      const [m, k] = w.shape;
      const n = size(x.shape) / k;
      const slopes = [
        sums(like(x), n, k, m, (i, c, j) => [i * m + j, j * k + c], g, w),
        sums(like(w), m, k, n, (j, c, i) => [i * m + j, i * k + c], g, x),
      ];
      if (bias) {
        slopes.push(like(bias));
        g.values.forEach((slope, i) => { slopes[2].values[i % m] += slope; });
      }
      return slopes;
    },
  },
};

// --- programs: one method for each step; each returns the arrays that the step records, by name ----------------------

class Unsupported extends Error {}

class Executor {
  constructor(program, arrays) {
    this.nodes = program.nodes;
    this.heads = program.heads;
    this.array = (reference) => like(arrays[reference.array], arrays[reference.array].values.slice());
    this.variables = {};
    for (const [name, reference] of Object.entries(program.arrays)) this.variables[name] = this.array(reference);
    this.results = null; // the first output of each node, in the last forward pass
  }

  bind({ requirements = {}, gradients = {} }) {
    this.requirements = requirements;
    this.gradients = {};
    for (const [name, requirement] of Object.entries(requirements)) {
      if (requirement === "null") continue;
      const empty = like(this.variables[name]);
      this.gradients[name] = name in gradients ? this.array(gradients[name]) : like(empty, empty.values.fill(NaN));
    }
    return {};
  }

  share() {
    this.results = null;
    return {};
  }

  reshape({ arrays }) {
    for (const [name, reference] of Object.entries(arrays)) {
      this.variables[name] = this.array(reference);
      if (name in this.gradients) this.gradients[name] = like(this.variables[name]);
    }
    this.results = null;
    return {};
  }

  forward({ arrays = {} }) {
    for (const [name, reference] of Object.entries(arrays)) this.variables[name] = this.array(reference);
    this.results = [];
    for (const node of this.nodes) {
      const inputs = (node.inputs || []).map(([number]) => this.results[number]);
      const copy = (x) => like(x, x.values.slice());
      this.results.push(
        node.op === "null" ? copy(this.variables[node.name]) : OPERATORS[node.op].forward(node.attrs || {}, ...inputs));
    }
    return this.outputs();
  }

  outputs() {
    return Object.fromEntries(this.heads.map(([number], i) => [`output${i}`, this.results[number]]));
  }

  read() {
    return Object.fromEntries(Object.entries(this.variables).map(([name, x]) => [`argument:${name}`, x]));
  }

  backward({ heads }) {
    if (!this.results) throw new Unsupported("a backward pass without a forward pass before");
    if (!heads) throw new Unsupported("a backward pass without gradients of the outputs");
    const slopes = this.results.map((x) => like(x));
    this.heads.forEach(([number], i) => { slopes[number] = add(slopes[number], this.array(heads[i])); });
    for (let number = this.nodes.length - 1; number >= 0; number--) {
      const node = this.nodes[number];
      if (node.op === "null") continue;
      const inputs = node.inputs.map(([source]) => this.results[source]);
      const found = OPERATORS[node.op].backward(node.attrs || {}, slopes[number], this.results[number], ...inputs);
      node.inputs.forEach(([source], i) => { slopes[source] = add(slopes[source], found[i]); });
    }
    this.nodes.forEach(({ op, name }, number) => {
      if (op !== "null" || !(name in this.gradients)) return;
      const old = this.gradients[name];
      this.gradients[name] = this.requirements[name] === "add" ? add(old, slopes[number]) : slopes[number];
    });
    return Object.fromEntries(Object.entries(this.gradients).map(([name, x]) => [`gradient:${name}`, x]));
  }
}

const STEPS = ["bind", "share", "reshape", "forward", "outputs", "read", "backward"];

function run(program, arrays) {
  for (const { op } of program.nodes) {
    if (op !== "null" && !(op in OPERATORS)) throw new Unsupported(`operator ${op}`);
  }
  const executor = new Executor(program, arrays);
  const trace = {};
  program.steps.forEach((step, number) => {
    if (!STEPS.includes(step.do)) throw new Unsupported(`step ${step.do}`);
    const recorded = executor[step.do](step);
    for (const [name, x] of Object.entries(recorded)) trace[`${number}/${name}`] = like(x, x.values.slice());
  });
  return trace;
}

// --- messages --------------------------------------------------------------------------------------------------------

function read(count) {
  const bytes = Buffer.alloc(count);
  for (let at = 0; at < count;) {
    const got = fs.readSync(0, bytes, at, count - at);
    if (got === 0) process.exit(0); // the oracle has ended
    at += got;
  }
  return bytes;
}

function receive() {
  const message = read(Number(read(8).readBigUInt64LE()));
  let at = 8 + Number(message.readBigUInt64LE());
  const text = JSON.parse(message.subarray(8, at).toString());
  const arrays = text.arrays.map(([, , shape]) => { // all are float32: the first message names no other type
    const values = new Float32Array(size(shape));
    values.forEach((_, i) => { values[i] = message.readFloatLE(at + 4 * i); });
    at += 4 * values.length;
    return array(shape, values);
  });
  return [text.programs, arrays];
}

function send(content, trace = {}) {
  const arrays = Object.entries(trace).map(([name, x]) => [name, "float32", x.shape]);
  const text = Buffer.from(JSON.stringify({ ...content, arrays }));
  const parts = [text, ...Object.values(trace).map((x) => Buffer.from(x.values.buffer))];
  const head = Buffer.alloc(16);
  head.writeBigUInt64LE(BigInt(8 + parts.reduce((sum, part) => sum + part.length, 0)), 0);
  head.writeBigUInt64LE(BigInt(text.length), 8);
  const message = Buffer.concat([head, ...parts]);
  for (let at = 0; at < message.length;) at += fs.writeSync(1, message, at);
}

send({
  protocol: 1, version: "a backend in JavaScript", inline: true,
  capabilities: { level: 2, operators: Object.keys(OPERATORS), dtypes: ["float32"] },
});
for (;;) {
  const [programs, arrays] = receive();
  for (const program of programs) {
    let trace;
    try {
      trace = run(program, arrays);
    } catch (error) {
      send({ error: error instanceof Unsupported ? "unsupported" : "refused", text: `${error.name}: ${error.message}` });
      continue;
    }
    send({}, trace);
  }
}
