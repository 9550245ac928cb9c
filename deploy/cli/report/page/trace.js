// SPDX-License-Identifier: MIT
// Reads a trace, the CSV that `hdss run --trace` writes, and brings it into the order in which it is drawn: workers by node and rank, the
// chunks of each by the time at which they began. Times are seconds. What is not known is NaN, of ranks -1.

const REASON_WORDS = ['', 'own', 'other', 'cut', 'requeued', 'recalled', 'copy', 'verify', 'adopted'];
const FATE_WORDS = ['', 'done', 'lost', 'returned', 'dropped', 'failed', 'open', 'undone'];
const OWN = 1, OTHER = 2, CUT_NOW = 3, REQUEUED = 4, RECALLED = 5, COPY = 6, VERIFY = 7;
const DONE = 1, LOST = 2, DROPPED = 4, FAILED = 5, OPEN = 6;
const CLASS_NAMES = ['own', 'other', 'requeued', 'recalled', 'copy', 'verify', 'vain'], IN_VAIN = 6;
const CLASS_LABELS = ['cut for this worker', 'cut for another worker', 'requeued after a loss or failure', 'recalled from another worker', 'speculative copy', 'verification',
  'in vain: lost, failed or not needed'];

const CLASS_OF_REASON = REASON_WORDS.map(word => Math.max(0, CLASS_NAMES.indexOf(word)));

// What a chunk is drawn as. Verifications that were dropped were wanted: their results were compared.
function classOf(reason, fate) {
  if (!(reason === VERIFY && fate === DROPPED) && (fate === LOST || fate === FAILED || fate === DROPPED))
    return IN_VAIN;
  return CLASS_OF_REASON[reason];
}

// --- rows ---

const COMMA = 44, NEWLINE = 10, RETURN = 13, QUOTE = 34, POINT = 46, ZERO = 48;
const POWERS = Array.from({length: 16}, (_, i) => Number(`1e${i}`));

// A number in one of its rarer spellings: 1e3, 2^20, 1_000.
function rareNumber(text) {
  const [base, power] = text.replace(/[_"]/g, '').split('^').map(Number);
  return power === undefined ? base : base ** power;
}

const knownNumber = text => text === '' ? NaN : rareNumber(text);
const rankOf = value => Number.isNaN(value) ? -1 : value;

// Goes over the bytes of a trace field by field.
class Fields {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
    this.decoder = new TextDecoder();
  }

  number() {
    const {bytes} = this, begin = this.at;
    let at = begin, value = 0, digits = 0, point = -1, isRare = false;
    for (; at < bytes.length && bytes[at] !== COMMA && bytes[at] !== NEWLINE; at++) {
      const digit = bytes[at] - ZERO;
      if (digit >= 0 && digit <= 9) {
        value = 10 * value + digit;
        digits++;
      } else if (bytes[at] === POINT && point < 0) {
        point = digits;
      } else {
        isRare = true;
      }
    }
    this.at = at + 1;
    if (at === begin)
      return NaN;
    if (isRare || digits > 15)
      return rareNumber(this.decoder.decode(bytes.subarray(begin, at)));
    return point < 0 ? value : value / POWERS[digits - point];
  }

  // The place of a word in a table by its first three bytes; 0 for none.
  word(table) {
    const {bytes} = this, begin = this.at;
    this.skip(1);
    return this.at === begin + 1 ? 0 : table.get(bytes[begin] << 16 | bytes[begin + 1] << 8 | bytes[begin + 2]) || 0;
  }

  skip(count) {
    const {bytes} = this;
    for (; count > 0; count--) {
      while (this.at < bytes.length && bytes[this.at] !== COMMA)
        this.at++;
      this.at++;
    }
  }

  // The text that is left of the row, which may have quotes.
  endRow() {
    const {bytes} = this;
    while (this.at < bytes.length && bytes[this.at] !== NEWLINE && bytes[this.at] !== QUOTE)
      this.at++;
    if (bytes[this.at] === QUOTE)
      this.row();
    else
      this.at++;
  }

  // All fields of the row.
  row() {
    const {bytes} = this, found = [];
    for (;;) {
      const isQuoted = bytes[this.at] === QUOTE, begin = this.at + isQuoted;
      let end = begin;
      if (isQuoted) {
        while (end < bytes.length && (bytes[end] !== QUOTE || bytes[end + 1] === QUOTE))
          end += bytes[end] === QUOTE ? 2 : 1;
      } else {
        while (end < bytes.length && bytes[end] !== COMMA && bytes[end] !== NEWLINE)
          end++;
      }
      const text = this.decoder.decode(bytes.subarray(begin, end));
      found.push(isQuoted ? text.replaceAll('""', '"') : text.replace(/\r$/, ''));
      this.at = end + isQuoted + 1;
      if (bytes[this.at - 1] !== COMMA)
        return found;
    }
  }

  // The kind of the row, of which the quick ones have their place moved behind it.
  quickKind() {
    const {bytes, at} = this;
    if (bytes[at] !== 99) // c
      return '';
    const kind = bytes[at + 1] === 104 && bytes[at + 5] === COMMA ? 'chunk' : bytes[at + 1] === 117 && bytes[at + 3] === COMMA ? 'cut' : '';
    this.at += kind === '' ? 0 : kind.length + 1;
    return kind;
  }
}

const tableOf = words => new Map(words.map((word, i) => [word.charCodeAt(0) << 16 | word.charCodeAt(1) << 8 | word.charCodeAt(2), i]));

const TIMES = ['given', 'asked', 'begun', 'ended', 'stored', 'compute'], COUNTS = ['first', 'count', 'number', 'worker', 'node', 'master'];

function readTrace(bytes) {
  const fields = new Fields(bytes), reasons = tableOf(REASON_WORDS), fates = tableOf(FATE_WORDS);
  let lines = 1;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1))
    lines++;
  const rows = {length: 0, reason: new Uint8Array(lines), fate: new Uint8Array(lines)};
  for (const name of [...TIMES, ...COUNTS])
    rows[name] = new Float64Array(lines);
  const trace = {facts: {}, workers: [], cuts: {length: 0, time: [], size: [], formula: [], worker: [], first: []}, events: [], resumed: []};
  const {cuts} = trace;
  if (!fields.row().join(',').startsWith('kind,time_s,worker,node,master,chunk,first,count,reason,asked_s,begun_s,ended_s,stored_s,compute_s,fate,formula,text'))
    throw new Error('what is put into it is no trace');
  while (fields.at < bytes.length) {
    if (bytes[fields.at] === NEWLINE || bytes[fields.at] === RETURN) {
      fields.at++;
      continue;
    }
    const kind = fields.quickKind();
    if (kind === 'chunk') {
      const i = rows.length++;
      rows.given[i] = fields.number();
      rows.worker[i] = fields.number();
      rows.node[i] = fields.number() || 0;
      rows.master[i] = rankOf(fields.number());
      rows.number[i] = fields.number() || 0;
      rows.first[i] = fields.number();
      rows.count[i] = fields.number();
      rows.reason[i] = fields.word(reasons);
      for (const name of ['asked', 'begun', 'ended', 'stored', 'compute'])
        rows[name][i] = fields.number();
      rows.fate[i] = fields.word(fates);
      fields.endRow();
    } else if (kind === 'cut') {
      cuts.time.push(fields.number());
      cuts.worker.push(rankOf(fields.number()));
      fields.skip(3);
      cuts.first.push(fields.number());
      cuts.size.push(fields.number());
      fields.skip(7);
      cuts.formula.push(fields.number());
      fields.endRow();
      cuts.length++;
    } else {
      takeRow(trace, fields.row());
    }
  }
  orderTrace(trace, rows);
  return trace;
}

function takeRow(trace, fields) {
  const [time, worker, node, master, , first, count] = fields.slice(1, 8).map(knownNumber), text = fields[16] || '';
  switch (fields[0]) {
  case 'run':
    trace.facts[text.slice(0, text.indexOf('='))] = text.slice(text.indexOf('=') + 1);
    break;
  case 'worker': {
    const words = new Map(text.split(' ').map(word => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]));
    trace.workers.push({rank: worker, node: node || 0, master: rankOf(master), host: words.get('host') || '', power: Math.max(0, Number(words.get('power')) || 0), lost: NaN});
    break;
  }
  case 'event':
    trace.events.push({time, worker: rankOf(worker), first, count, text});
    break;
  case 'resumed':
    trace.resumed.push({first, count});
    break;
  }
}

// --- order ---

const latest = (a, b) => b > a ? b : a;

// Of several rows about one worker the first counts; one of which only chunks tell gets its place, too.
function orderTrace(trace, rows) {
  const known = new Map();
  for (const worker of trace.workers)
    if (!known.has(worker.rank))
      known.set(worker.rank, worker);
  for (let i = 0; i < rows.length; i++)
    if (!known.has(rows.worker[i]))
      known.set(rows.worker[i], {rank: rows.worker[i], node: rows.node[i], master: rows.master[i], host: '', power: 0, lost: NaN});
  for (const event of trace.events)
    if (event.text.startsWith('worker lost') && known.has(event.worker))
      known.get(event.worker).lost = event.time;
  trace.workers = [...known.values()].sort((a, b) => a.node - b.node || a.rank - b.rank);
  trace.workers.forEach((worker, index) => Object.assign(worker, {index, begin: 0, end: 0}));
  const owners = new Uint32Array(rows.length);
  for (let i = 0; i < rows.length; i++)
    owners[i] = known.get(rows.worker[i]).index;
  for (const owner of owners)
    trace.workers[owner].end++;
  let at = 0;
  for (const worker of trace.workers) {
    worker.begin = at;
    at += worker.end;
    worker.end = worker.begin;
  }
  const order = new Uint32Array(rows.length);
  owners.forEach((owner, i) => { order[trace.workers[owner].end++] = i; });
  rows.isPart = new Uint8Array(rows.length);
  rows.assumed = new Float64Array(rows.length).fill(NaN);
  for (const worker of trace.workers) {
    const own = order.subarray(worker.begin, worker.end);
    markParts(rows, own);
    assumeBeginning(rows, own);
    sortByBegin(rows, own);
  }
  const chunks = {length: rows.length, owner: new Uint32Array(rows.length)};
  for (const name of [...TIMES, 'first', 'count', 'number', 'master', 'reason', 'fate', 'assumed', 'isPart']) {
    const column = rows[name];
    chunks[name] = new column.constructor(rows.length);
    order.forEach((i, to) => { chunks[name][to] = column[i]; });
  }
  for (const worker of trace.workers)
    chunks.owner.fill(worker.index, worker.begin, worker.end);
  trace.chunks = chunks;
  trace.end = endOf(trace);
  addSpans(trace);
}

// A chunk of whose iterations not the same has become has several rows: marks all but one of them, that was computed, and done.
function markParts(rows, own) {
  if (own.every((i, k) => k === 0 || rows.number[own[k - 1]] < rows.number[i]))
    return;
  const giver = i => rows.master[i] < 0 ? Infinity : rows.master[i], use = i => 2 * Number.isNaN(rows.begun[i]) + (rows.fate[i] !== DONE);
  const sorted = [...own].sort((a, b) => giver(a) === giver(b) ? rows.number[a] - rows.number[b] || use(a) - use(b) || a - b : giver(a) - giver(b));
  let whole = sorted[0];
  for (const i of sorted.slice(1)) {
    if (rows.number[i] === 0 || rows.number[i] !== rows.number[whole] || rows.master[i] !== rows.master[whole]) {
      whole = i;
      continue;
    }
    rows.isPart[i] = 1;
    if (Number.isNaN(rows.compute[whole])) // the first row has it, for all of the chunk
      rows.compute[whole] = rows.compute[i];
  }
}

// Of the chunks that were lost, or are open, the worker had begun the one that it was given first, when it had ended all others.
function assumeBeginning(rows, own) {
  let first = -1, ended = 0;
  for (const i of own) {
    ended = latest(ended, rows.ended[i]);
    if ((rows.fate[i] === LOST || rows.fate[i] === OPEN) && !rows.isPart[i] && Number.isNaN(rows.begun[i]) && (first < 0 || rows.given[i] < rows.given[first]))
      first = i;
  }
  if (first >= 0)
    rows.assumed[first] = Math.max(rows.given[first], ended);
}

// Of rows about one chunk the one that stands for its times comes last, where a search for a moment finds it.
function sortByBegin(rows, own) {
  const key = i => !Number.isNaN(rows.begun[i]) ? rows.begun[i] : !Number.isNaN(rows.assumed[i]) ? rows.assumed[i] : rows.given[i];
  const compare = (a, b) => key(a) - key(b) || rows.number[a] - rows.number[b] || rows.isPart[b] - rows.isPart[a];
  if (!own.every((i, k) => k === 0 || compare(own[k - 1], i) <= 0))
    own.set([...own].sort(compare));
}

// The last moment of which the trace tells.
function endOf({chunks, cuts, events}) {
  let end = 0;
  for (const column of [chunks.given, chunks.begun, chunks.ended, chunks.stored, cuts.time])
    for (let i = 0; i < column.length; i++)
      end = latest(end, column[i]);
  return events.reduce((last, event) => latest(last, event.time), end);
}

// From when to when each chunk was with its worker's kernel; NaN: it has not begun, or another row stands for its times. One of which no end is
// known was cut off by the loss of its worker, or by the end of the trace.
function addSpans({chunks, workers, end}) {
  const {begun, assumed, ended, isPart, owner} = chunks, from = new Float64Array(chunks.length), to = new Float64Array(chunks.length);
  for (let i = 0; i < chunks.length; i++) {
    const {lost} = workers[owner[i]];
    from[i] = isPart[i] ? NaN : Number.isNaN(begun[i]) ? assumed[i] : begun[i];
    to[i] = latest(from[i], !Number.isNaN(ended[i]) ? ended[i] : !Number.isNaN(lost) ? lost : end);
  }
  Object.assign(chunks, {from, to});
}
