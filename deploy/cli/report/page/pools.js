// SPDX-License-Identifier: MIT
// The tree of a run, supermaster, masters and workers, with what each master gave to whom and why, and its task pool over time.
//
// A trace has no rows about pools. An iteration lies in the pool of a master from the scheduling step in which the technique cut it for one of the
// workers of that master, until a worker is given it for the first time, by whomever; its chunk is there as long as any iteration of it is. What lies
// there when its master is lost is cut again, for workers of others. The numbers at which any chunk begins or ends divide the loop into pieces that
// are never divided further: all cuts and assignments are gone through in the order of time, and each piece is in one of a few states.

const POOL_PARTS = 240;      // a course has the most at any time within each of so many parts of the time
const BRANCHES_MAX = 64;     // more masters than these are summed, those together whose ranks follow one another
const IN_NO_CUT = -1;

// --- the depth of a pool ---

class Pool {
  constructor(begin, end) {
    Object.assign(this, {begin, end, part: 0, since: begin, iterations: 0, chunks: 0, mostIterations: 0, mostChunks: 0, mostAt: 0, chunkTime: 0, emptyTime: 0, cut: 0, moved: 0});
    this.depths = new Float64Array(POOL_PARTS);
    this.chunkDepths = new Float64Array(POOL_PARTS);
  }

  // The depth stays as it is until that moment; what is behind the end counts no more.
  hold(moment) {
    const time = Math.min(moment, this.end), share = (time - this.begin) / (this.end - this.begin);
    const part = share > 0 ? Math.floor(Math.min(share * POOL_PARTS, POOL_PARTS - 1)) : 0, held = Math.max(0, time - this.since);
    while (this.part < part) {
      this.part++;
      this.note();
    }
    this.chunkTime += held * this.chunks;
    this.emptyTime += this.iterations === 0 ? held : 0;
    this.since = Math.max(this.since, time);
  }

  note() {
    this.depths[this.part] = Math.max(this.depths[this.part], this.iterations);
    this.chunkDepths[this.part] = Math.max(this.chunkDepths[this.part], this.chunks);
  }

  enter(iterations, time) {
    this.hold(time);
    this.iterations += iterations;
    this.chunks++;
    this.note();
    if (this.iterations > this.mostIterations) {
      this.mostIterations = this.iterations;
      this.mostAt = time;
    }
    this.mostChunks = Math.max(this.mostChunks, this.chunks);
  }

  leave(iterations, isLast, time) {
    this.hold(time);
    this.iterations -= iterations;
    this.chunks -= isLast;
  }

  finish() {
    this.hold(this.end);
    this.meanChunks = this.chunkTime / (this.end - this.begin);
    this.empty = Math.min(1, this.emptyTime / (this.end - this.begin));
  }
}

// --- what happens ---

const isRange = (first, count) => first >= 0 && count > 0;

// All cuts, assignments and losses of masters as [time, kind, index], in their order. Copies and verifications are of what others have been given.
const CUT = 0, GIVE = 1, MASTER_LOST = 2;

function listActions({cuts, chunks, events}) {
  const room = cuts.length + chunks.length + events.length, time = new Float64Array(room), kinds = new Uint8Array(room), indices = new Uint32Array(room);
  let length = 0;
  const add = (at, action, index) => {
    time[length] = at;
    kinds[length] = action;
    indices[length] = index;
    length++;
  };
  for (let i = 0; i < cuts.length; i++)
    if (isRange(cuts.first[i], cuts.size[i]))
      add(cuts.time[i], CUT, i);
  for (let i = 0; i < chunks.length; i++)
    if (chunks.reason[i] !== COPY && chunks.reason[i] !== VERIFY && isRange(chunks.first[i], chunks.count[i]))
      add(chunks.given[i], GIVE, i);
  events.forEach((event, i) => event.text.startsWith('master lost') && add(event.time, MASTER_LOST, i));
  const order = new Uint32Array(length).map((_, k) => k).sort((a, b) => time[a] - time[b] || kinds[a] - kinds[b] || indices[a] - indices[b]);
  return {time, kinds, indices, order};
}

class Pools {
  constructor(trace, branchOf, count, begin, end) {
    this.trace = trace;
    this.branchOf = branchOf;
    this.masterOf = new Map(trace.workers.map(worker => [worker.rank, worker.master]));
    this.pools = Array.from({length: count + 1}, () => new Pool(begin, Math.max(end, begin + 1e-9))); // the last one: all of them together
    this.actions = listActions(trace);
    this.listPieces();
    this.left = new Float64Array(trace.cuts.length); // iterations that still lie in a pool by that cut
    this.poolOfCut = new Uint32Array(trace.cuts.length);
    this.follow();
  }

  listPieces() {
    const {cuts, chunks} = this.trace, {kinds, indices, order} = this.actions, numbers = new Float64Array(2 * order.length);
    let length = 0;
    for (let k = 0; k < order.length; k++) {
      const action = kinds[k];
      if (action === MASTER_LOST)
        continue;
      const i = indices[k], from = action === CUT ? cuts.first[i] : chunks.first[i];
      numbers[length++] = from;
      numbers[length++] = from + (action === CUT ? cuts.size[i] : chunks.count[i]);
    }
    this.bounds = numbers.subarray(0, length).sort().filter((value, i, all) => i === 0 || value !== all[i - 1]);
    this.cutOf = new Int32Array(this.bounds.length).fill(IN_NO_CUT);
    this.isNew = new Uint8Array(this.bounds.length).fill(1); // it was not cut yet
    this.isGiven = new Uint8Array(this.bounds.length);
  }

  // Calls take(piece, iterations) for each piece of a range, which begins and ends where pieces do.
  eachPiece(from, size, take) {
    const {bounds} = this;
    let low = 0, high = bounds.length;
    while (low < high) {
      const middle = low + high >> 1;
      if (bounds[middle] < from)
        low = middle + 1;
      else
        high = middle;
    }
    for (let i = low; i + 1 < bounds.length && bounds[i] < from + size; i++)
      take(i, bounds[i + 1] - bounds[i]);
  }

  both(index) {
    return [this.pools[index], this.pools[this.pools.length - 1]];
  }

  take(piece, iterations, time) {
    const cut = this.cutOf[piece];
    if (cut === IN_NO_CUT)
      return;
    this.cutOf[piece] = IN_NO_CUT;
    this.left[cut] -= iterations;
    for (const pool of this.both(this.poolOfCut[cut]))
      pool.leave(iterations, this.left[cut] === 0, time);
  }

  cut(index, time) {
    const {cuts} = this.trace, master = this.masterOf.get(cuts.worker[index]), place = this.branchOf(master === undefined ? -1 : master);
    let entered = 0;
    this.poolOfCut[index] = place;
    for (const pool of this.both(place))
      pool.cut += cuts.size[index];
    this.eachPiece(cuts.first[index], cuts.size[index], (piece, iterations) => {
      this.take(piece, iterations, time);
      // The clocks of two nodes differ: what was given before it was cut did not lie in a pool.
      const wasEarly = this.isNew[piece] && this.isGiven[piece];
      this.isNew[piece] = 0;
      if (wasEarly)
        return;
      this.cutOf[piece] = index;
      entered += iterations;
    });
    this.left[index] = entered;
    if (entered > 0)
      for (const pool of this.both(place))
        pool.enter(entered, time);
  }

  give(index, time) {
    const {chunks} = this.trace, giver = this.branchOf(chunks.master[index]);
    this.eachPiece(chunks.first[index], chunks.count[index], (piece, iterations) => {
      const cut = this.cutOf[piece];
      this.isGiven[piece] = 1;
      if (cut !== IN_NO_CUT && this.poolOfCut[cut] !== giver)
        for (const pool of this.both(this.poolOfCut[cut]))
          pool.moved += iterations;
      this.take(piece, iterations, time);
    });
  }

  lose(master, time) {
    for (let piece = 0; piece + 1 < this.bounds.length; piece++)
      if (this.cutOf[piece] !== IN_NO_CUT && this.masterOf.get(this.trace.cuts.worker[this.cutOf[piece]]) === master)
        this.take(piece, this.bounds[piece + 1] - this.bounds[piece], time);
  }

  follow() {
    const {time, kinds, indices, order} = this.actions;
    for (const k of order) {
      if (kinds[k] === CUT)
        this.cut(indices[k], time[k]);
      else if (kinds[k] === GIVE)
        this.give(indices[k], time[k]);
      else
        this.lose(this.trace.events[indices[k]].worker, time[k]);
    }
    for (const pool of this.pools)
      pool.finish();
  }
}

// --- the tree ---

const noCounts = () => ({chunks: 0, own: 0, other: 0, recalled: 0, again: 0});

function countReason(counts, reason) {
  counts.chunks++;
  counts.own += reason === OWN || reason === CUT_NOW;
  counts.other += reason === OTHER;
  counts.recalled += reason === RECALLED;
  counts.again += reason === REQUEUED || reason === COPY || reason === VERIFY;
}

// Branches by the ranks of their masters, each with its workers, what it gave, and its pool; `all` is their sum. Without masters there are no pools.
// The supermaster has rank 0, which stands for those that are not known.
function makeTree(trace, begin, end) {
  const {workers, chunks} = trace, givers = new Set(workers.map(worker => Math.max(0, worker.master)));
  chunks.master.forEach(rank => givers.add(Math.max(0, rank)));
  const ranks = [...givers].filter(rank => rank > 0).sort((a, b) => a - b), together = Math.ceil(ranks.length / BRANCHES_MAX), branches = [], placeOf = new Map([[0, 0]]);
  const add = own => {
    own.forEach(rank => placeOf.set(rank, branches.length));
    branches.push({ranks: own.filter(rank => rank > 0), workers: [], served: 0, counts: noCounts(), pool: null});
  };
  if (givers.has(0))
    add([0]);
  for (let i = 0; i < ranks.length; i += together)
    add(ranks.slice(i, i + together));
  const branchOf = rank => placeOf.get(Math.max(0, rank)) || 0, all = {ranks, workers, served: 0, counts: noCounts(), pool: null}, ofWorker = workers.map(noCounts);
  for (const worker of workers) {
    const seen = new Set();
    branches[branchOf(worker.master)].workers.push(worker);
    for (let i = worker.begin; i < worker.end; i++) {
      if (chunks.isPart[i])
        continue;
      const branch = branches[branchOf(chunks.master[i])];
      seen.add(branch);
      for (const counts of [ofWorker[worker.index], branch.counts, all.counts])
        countReason(counts, chunks.reason[i]);
    }
    seen.forEach(branch => branch.served++);
    all.served += seen.size > 0;
  }
  if (ranks.length > 0)
    new Pools(trace, branchOf, branches.length, begin, end).pools.forEach((pool, i) => { (branches[i] || all).pool = pool; });
  return {branches, all, ofWorker, masters: ranks.length, begin};
}
