#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz targets: small inputs that are right, or wrong in one way, one file each.

    seeds.py            writes corpus/TARGET/seed-NAME and dictionary/TARGET beside this file
    seeds.py --check    whether they are as it would write them: a raised protocol version wants new ones

What a fuzzer found is in the same folders under other names and is left alone: found-NAME made new code run, failed-NAME once
failed. The layouts are those of proto/PROTOCOL.md and common/job/journal_format.h, written down again on purpose.
"""
import os
import re
import struct
import sys
import zlib

from run import SHARES

HERE = os.path.dirname(os.path.abspath(__file__))


def header(kind, flags=0, number=0, ident=0, job=1):
    return struct.pack("<BBHII", kind, flags, number, ident, job)


def speed(levels=2, mean=1000.0, deviation=10.0, swr=0.5, cell=(1000.0, 1)):
    cells = struct.pack("<fI", *cell) * 16
    times = b"".join(struct.pack("<Q", 1000 << k) for k in range(levels))
    return header(0x10, 0, levels, 7) + struct.pack("<Qddd", 400, mean, deviation, swr) + cells + times


def completion(compute=900, digest=5, wait=3, deviation=1.5, samples=9, load=0):
    return struct.pack("<QQQfHH", compute, digest, wait, deviation, samples, load)


def request(flags=1, asks=1, chunk=4, more=0, tail=b"", own=completion()):
    return header(0x11, flags, asks | more << 8, chunk) + own + completion() * more + tail


def assign(more=0):
    return header(0x13, 0, more, 2) + struct.pack("<QQ", 100, 20) + struct.pack("<QQ", 120, 5) * more


def feedback(count):
    return header(0x25, 0, count) + struct.pack("<IIQQQfI", 3, 2, 40, 900, 10, 2.5, 6) * count


def loads(*told):
    return header(0x2A, 0, len(told)) + b"".join(struct.pack("<IH", *one) for one in told)


def failure(ident, first, flags=0, count=1, text=b"no luck"):
    return header(0x18, flags, len(text), ident) + struct.pack("<QQ", first, count) + text


def recall(waiting):
    return header(0x2B, 0, 0, waiting)


def returned(*ranges):
    return header(0x2C, 0, len(ranges)) + b"".join(struct.pack("<QQ", *one) for one in ranges)


def suspect(first, count, deaths, failures, rank):
    return header(0x29, 0, 0, rank) + struct.pack("<QQII", first, count, deaths, failures)


def neighbour(first, rank):
    return header(0x1A, 0, 0, rank) + struct.pack("<Q", first)


def boundary(first, offset, flags=2, tail=b"boundary"):
    return header(0x1B, flags) + struct.pack("<QQ", first, offset) + tail


def threads(count=4, longest=1.25, cov=0.5, cores=0, workers=0, processor=0):
    return header(0x19, 0, count, 5) + struct.pack("<ffQIIQ", longest, cov, 90, cores, workers, processor)


MESSAGES = {
    "speed": speed(), "speed-nothing-timed": speed(1, 0.0, 0.0, 0.0, (0.0, 0)), "speed-12": speed(12),
    "speed-negative": speed(2, -1.0), "speed-infinite": speed(2, float("inf")), "speed-swr": speed(swr=1.5),
    "request-first": request(0, 1, 0, own=bytes(32)), "request": request(), "request-no-ask": request(asks=0),
    "request-two": request(more=1), "request-15": request(more=15, asks=16), "request-inline": request(3, tail=b"results"),
    "request-data": request(5), "request-inline-data": request(7, tail=b"x"), "request-nan":
    request(own=completion(deviation=float("nan"))), "request-flag": request(9),
    "request-load": request(own=completion(load=640)), "request-load-less-than-one": request(own=completion(load=255)),
    "loads": loads((3, 256), (4, 640)), "loads-none": loads(), "loads-less-than-one": loads((3, 255)), "loads-400": loads(*[(3, 300)] * 400),
    "result": header(0x12, 0, 0, 4) + struct.pack("<QQ", 10, 77),
    "result-inline": header(0x12, 2, 0, 4) + struct.pack("<QQ", 10, 77) + b"abcdefgh",
    "result-long": header(0x12, 2, 0, 4) + struct.pack("<QQ", 10, 77) + bytes(2049),
    "assign": assign(), "assign-two": assign(1), "assign-16": assign(15), "assign-too-many": assign(16),
    "assign-overflow": header(0x13, 0, 0, 2) + struct.pack("<QQ", 2**64 - 1, 1),
    "end": header(0x14), "end-drain": header(0x14, 1), "end-degraded": header(0x14, 2), "end-late": header(0x14, 4), "end-now": header(0x14, 9), "adopt": header(0x17) + struct.pack("<QQ", 5, 2),
    "lost": header(0x26, 0, 0, 6) + struct.pack("<QQQ", 2, 5, 2), "lost-idle": header(0x26, 0, 0, 6) + bytes(24),
    "failure": failure(4, 3), "failure-final": failure(4, 3, 1), "failure-none": failure(4, 3, count=0),
    "suspect": suspect(5, 2, 2, 1, 4), "suspect-nothing": suspect(5, 2, 0, 0, 0), "assign-careful": header(0x13, 1, 0, 2) + struct.pack("<QQ", 100, 20),
    "recovery-counts": header(0x27) + struct.pack("<QQQQ", 3, 1, 2, 9), "recall": recall(3), "recall-all": recall(2**32 - 1), "recall-nobody": recall(0),
    "returned": returned((2, 3)), "returned-nothing": returned(), "returned-two": returned((40, 2), (2, 3)), "returned-empty": returned((2, 0)),
    "returned-overflow": returned((2**64 - 1, 2)), "returned-200": returned(*[(2 * i, 1) for i in range(200)]),
    "returned-201": returned(*[(2 * i, 1) for i in range(201)]),
    "failed": header(0x28, 0, 1) + struct.pack("<QQ", 2, 3), "failed-nothing": header(0x28),
    "threads": threads(), "threads-one": threads(1), "threads-shared": threads(1, 1.0, 0.0, 2, 4, 1000), "threads-enough": threads(1, 1.0, 0.0, 4, 4, 1000),
    "threads-below-mean": threads(longest=0.5), "threads-nan": threads(cov=float("nan")),
    "neighbour": neighbour(7, 5), "neighbour-first": neighbour(0, 5), "boundary": boundary(7, 16),
    "boundary-data": boundary(7, 16, 4, struct.pack("<Q", 32768)), "boundary-nothing": boundary(7, 16, 0, b""),
    "boundary-overflow": boundary(7, 2**64 - 4), "boundary-long": boundary(7, 0, 2, bytes(2049)),
    "goodbye": header(0x15) + struct.pack("<QQQ", 5, 600, 7),
    "echo": header(0x16, 0, 0, 3), "report": header(0x20, 1, 2, 4) + struct.pack("<QQQ", 0, 9, 1) * 2,
    "report-empty": header(0x20), "refill": header(0x21, 1, 2) + struct.pack("<QQI", 0, 9, 3) * 2,
    "refill-empty": header(0x21, 2), "refill-neither": header(0x21),
    "stats": header(0x22, 0, 1) + struct.pack("<IQQQQQQ", 3, 1, 2, 3, 4, 5, 6), "problem": header(0x23, 0, 5, 2) + b"a b c",
    "problem-400": header(0x23, 0, 400, 2) + b"x" * 400, "problem-401": header(0x23, 0, 401, 2) + b"x" * 401,
    "problem-escape": header(0x23, 0, 4, 2) + b"\x1b[2J", "drain": header(0x24), "drain-job-2": header(0x24, job=2), "drain-no-job": header(0x24, job=0), "feedback": feedback(1),
    "feedback-100": feedback(100), "feedback-none": feedback(0), "verified": header(0x2D) + struct.pack("<QQQQII", 300, 20, 0, 0, 0, 0),
    "verified-two": header(0x2D, 0, 2, 4) + struct.pack("<QQQQII", 0, 0, 5, 2, 6, 0),
    "verified-three": header(0x2D, 2, 3, 4) + struct.pack("<QQQQII", 0, 0, 5, 2, 6, 9), "job": header(0x2E, 0, 5, 0) + struct.pack("<I", 5) + b"words",
    "job-last": header(0x2E, 0, 2, 3, job=7) + struct.pack("<I", 5) + b"ds", "job-behind": header(0x2E, 0, 2, 4) + struct.pack("<I", 5) + b"ds",
    "set-over": header(0x2F), "set-over-degraded": header(0x2F, 2, job=9), "leaving": header(0x30), "leaving-now": header(0x30, 8, job=9),
    "store": header(0x31, 2, job=3) + struct.pack("<QQ", 256, 2) + b"ab", "store-data": header(0x31, 4, job=3) + struct.pack("<QQQ", 256, 2, 32768),
    "store-nothing": header(0x31, 0) + struct.pack("<QQ", 256, 2), "store-none": header(0x31, 2) + struct.pack("<QQ", 256, 0) + b"a",
    "store-overflow": header(0x31, 2) + struct.pack("<QQ", 2**64 - 1, 2) + b"a", "unknown": header(0x7F), "short": b"\x11\x00", "empty": b"",
}


def announcement(words=(b"supermaster", b"mandelbrot"), variables=(b"HOME=/root",), folder=b"/work", weight=1, priority=0, umask=18, more=b""):
    strings = b"".join(text + b"\0" for text in (folder, *words, *variables))
    return struct.pack("<IiIII", weight, priority, umask, len(words), len(variables)) + strings + more


ANNOUNCEMENTS = {
    "job": announcement(), "plain": announcement(variables=()), "urgent": announcement(weight=1000000, priority=-5, umask=511),
    "many": announcement(words=[b"w%d" % i for i in range(40)], variables=[b"V%d=%d" % (i, i) for i in range(40)]),
    "empty-word": announcement(words=(b"supermaster", b"exec", b"")), "no-word": announcement(words=()), "weight": announcement(weight=0),
    "umask": announcement(umask=512), "relative": announcement(folder=b"work"), "no-value": announcement(variables=(b"HOME",)),
    "no-name": announcement(variables=(b"=x",)), "behind": announcement(more=b"x\0"), "open": announcement()[:-1], "head": announcement()[:20],
}


def protocol_version():
    with open(os.path.join(HERE, "..", "..", "proto", "message.h"), encoding="utf-8") as file:
        return int(re.search(r"#define PROTOCOL_VERSION (\d+)", file.read()).group(1))


def frame(kind, body=b"", received=0, size=None):
    return struct.pack("<II", kind | (len(body) if size is None else size) << 8, received) + body


TOKEN = bytes(range(0xA0, 0xB0))


def joins(protocol=None, stream=2, workers=4, cores=8, received=0, token=bytes(16), name=b"node7", magic=b"HDSSjoin", more=b""):
    versions = struct.pack("<HH", stream, protocol or protocol_version())
    return frame(1, magic + versions + struct.pack("<IIQ", workers, cores, received) + token + name.ljust(64, b"\0") + more)


def greeting(credential=b"MUNGE:x:", size=None):
    return b"HDSScred" + struct.pack("<I", len(credential) if size is None else size) + credential


def welcome(token=TOKEN, received=0, first=5, beat=250, words=b"a\0bc\0"):
    return frame(2, token + struct.pack("<QII", received, first, beat) + words)


FRAMES = {
    "hello": joins(), "hello-back": joins(token=TOKEN, received=258), "hello-protocol": joins(protocol=999), "hello-stream": joins(stream=9),
    "hello-magic": joins(magic=b"HDSSleav"), "hello-workers": joins(workers=0), "hello-cores": joins(cores=1 << 30), "hello-new": joins(received=1),
    "hello-no-name": joins(name=b""), "hello-long-name": joins(name=b"n" * 64), "hello-name": joins(name=b"a\x1b[m"), "hello-behind": joins(name=b"a\0b"),
    "hello-long": joins(more=b"x"), "hello-short": frame(1, joins()[8:20]), "welcome": welcome(), "welcome-no-words": welcome(words=b""),
    "welcome-no-token": welcome(token=bytes(16)), "welcome-open": welcome(words=b"a"), "welcome-beat": welcome(beat=0), "refused": frame(3, b"no"),
    "refused-lines": frame(3, b"a\nb"), "message": frame(4, b"\xaa\xbb\xcc", 3), "message-none": frame(4), "message-long": frame(4, size=4097),
    "beat": frame(5, received=258), "beat-body": frame(5, b"x"), "bye": frame(6, received=259), "data": frame(7, b"results", 9), "data-none": frame(7), "data-long": frame(7, size=65529), "unknown": frame(8), "cut": welcome()[:-1],
    "greeting": greeting() + joins(), "greeting-size": greeting(size=1025), "greeting-control": greeting(b"MUNGE:\n:"), "greeting-cut": greeting()[:-1],
    "several": joins() + welcome() + frame(4, b"x") + frame(5, received=1) + frame(6), "received": frame(3, b"no", 1), "head": frame(5)[:7],
}


def hello(role, node=0, dca=0, status=0, protocol=None, magic=b"HDSS", zero=0):
    numbers = struct.pack("<HHHH", protocol or protocol_version(), 0, 1, 0)
    return magic + numbers + struct.pack("<BBBBII", role, status, dca, zero, node, 4000)


S, M, W = 1, 2, 3
LINEUPS = {
    "central": hello(S) + hello(W) * 3, "hierarchy": hello(S) + hello(M) * 2 + hello(W) * 4,
    "two-nodes": hello(S) + hello(M) + hello(W) * 2 + hello(M, 4) + hello(W, 4) * 3,
    "workers-on-a-third-node": hello(S) + hello(M) + hello(M) + hello(W, 3) * 4,
    "more-masters-than-workers": hello(S) + hello(M) * 5 + hello(W), "flat": hello(W, dca=1) * 3,
    "mixed-flat": hello(W, dca=1) + hello(W), "two-supermasters": hello(S) * 2 + hello(W), "no-supermaster": hello(M) + hello(W),
    "no-worker": hello(S) + hello(M), "flat-with-master": hello(M) + hello(W, dca=1), "versions": hello(S) + hello(W, protocol=99),
    "status": hello(S) + hello(W, status=2), "help": hello(S, status=255) + hello(W), "magic": hello(S, magic=b"HDSX"),
    "role": hello(9), "zero": hello(S, zero=1), "node-beyond": hello(S, 5) + hello(W), "short": hello(S)[:20],
    "pod": hello(M, dca=2) + hello(W) * 3, "pod-of-none": hello(M, dca=2), "pod-with-supermaster": hello(M, dca=2) + hello(S) + hello(W),
    "listens": hello(S, dca=4), "listens-central": hello(S, dca=4) + hello(W), "listens-hierarchy": hello(S, dca=4) + hello(M) + hello(W),
    "many": hello(S) + hello(M) * 8 + b"".join(hello(W, i % 9) for i in range(55)),
}


def loop(spec, iterations=1000, workers=4, flags=0, min_chunk=1, values=(1e-3, 0.5)):
    return struct.pack("<BBBBIQdd", flags, workers - 1, 0, 0, min_chunk, iterations, *values) + spec.encode()


NAMES = ("static ss css fsc mfsc gss tss fac fac2 tfss fiss viss tap rnd pls wf awf awf-b awf-c awf-d awf-e af dtss dfss dgss fss").split()
SPECS = {
    "css": "css:chunk=1250", "gss": "gss:min=80", "tss": "tss:first=125,last=1", "fsc": "fsc:h=0.013716,sigma=0.0605",
    "measure": "fsc:h=measure,sigma=measure", "unknown": "abc", "no-value": "css:chunk", "twice": "css:chunk=1,chunk=2",
    "no-param": "ss:x=1", "empty-param": "gss:", "power": "css:chunk=2^63", "too-large": "css:chunk=2^64", "underscores":
    "css:chunk=1_000", "negative": "gss:min=-1", "empty": "", "long": "css:chunk=" + "1" * 300, "variant": "wf:variant=paper",
    "variant-twice": "tss:variant=hdss,variant=paper", "variant-unknown": "pls:swr=0.5,variant=dca", "first": "af:first=100", "real": "fsc:h=1e-300,sigma=1e300",
}
LOOPS = {f"name-{name}": loop(name, flags=i % 16) for i, name in enumerate(NAMES)}
LOOPS |= {f"spec-{name}": loop(spec, flags=8) for name, spec in SPECS.items()}
LOOPS |= {"huge": loop("gss", 2**63, 256), "too-huge": loop("gss", 2**64 - 1), "none": loop("fac2", 0), "one": loop("dfss", 1, 256, 2),
          "min-chunk": loop("tss", 1000, 4, 0, 70), "powers": loop("dtss", 10**6, 7, 2),
          "nan": loop("af", 10**6, 7, 8, 1, (float("nan"), -1.0)),
          "weighted": loop("gss", 1000, 5, 3)}

COMMANDS = {
    "job": "supermaster mandelbrot width=64 height=64", "job-options":
    "supermaster --technique gss:min=2 --weighting power --min-chunk 3 --iterations 0:10 --output a.npy --report r.json mandelbrot",
    "job-rest": "supermaster --power equal --group-by even --ask-ahead 3 --progress never --journal off --durability node --retries 0 synthetic",
    "delays": "supermaster --inject-delay calculation:5 --inject-delay=assignment:1e3 adjoint n=100", "resume":
    "supermaster --resume --output m.png mandelbrot", "overwrite": "supermaster --overwrite --journal j --power p mandelbrot",
    "no-kernel": "supermaster", "unknown-kernel": "supermaster mandelbrod", "unknown-option": "supermaster --techniqe gss x",
    "no-value": "supermaster mandelbrot --technique", "twice": "supermaster mandelbrot width=1 width=2", "dashes":
    "supermaster -- mandelbrot", "help": "supermaster -h", "version": "supermaster --version",
    "auto": "supermaster --technique auto synthetic",
    "synthetic": "supermaster synthetic iterations=1e6 distribution=gaussian mean=1.5 spread=0.2 mode=sleep rate=3 seed=9",
    "synthetic-file": "supermaster synthetic distribution=file file=/none", "tiles": "supermaster --output m.csv mandelbrot by=tile",
    "path": "supermaster mandelbrot --output " + "p" * 1019 + ".npy", "path-long": "supermaster mandelbrot --output " + "p" * 1020 + ".npy",
    "worker": "worker --slowdown 2.5", "worker-dca": "worker --dca node --node-technique gss --dca rma:atomics=2", "master": "master",
    "master-word": "master x", "flat": "flat --dca two-sided --break-after 100 --technique fac2 mandelbrot width=9", "flat-refused":
    "flat --dca rma --resume mandelbrot", "flat-node": "flat --dca=node --node-technique=ss synthetic iterations=0",
}
FOUND = {
    "found": b"found: inputs=7 grows=1 added=3 unprobed=1 traits=3 loop=1/k\nmandelbrot", "found-none": b"found:\nmandelbrot",
    "found-half": b"found: added=\nmandelbrot",
}
CHUNKS = {
    "gss": "chunks gss --iterations 1000 --workers 4", "closed": "chunks tss --iterations 1000 --workers 4 --form closed",
    "power": "chunks dtss --iterations 1000 --power 1,2,3.5 --format json", "order": "chunks ss --iterations 9 --workers 3 --order 1,3,2",
    "plot": "chunks static gss tss --iterations 1e6 --workers 8 --plot a.png", "weighting":
    "chunks gss --iterations 100 --power 1,2 --weighting power --min-chunk 3 --format csv", "help": "chunks --help", "none": "chunks",
    "two": "chunks gss tss --iterations 9 --workers 2", "bad-order": "chunks gss --iterations 9 --workers 2 --order 0,9", "letter":
    "chunks -x", "no-value": "chunks gss --iterations", "shortened": "chunks gss --iter 10 --work 2", "learns":
    "chunks awf-b --iterations 1e4 --power 1,5 --order 2,1",
}


def words(table):
    return {name: "\n".join(line.split(" ")).encode() for name, line in table.items()}


POWERS = {
    "three": b"\x021 1.5\n2 2\n3 1e3\n", "comments": b"\x01# powers\n\n 1\t4 # fast\r\n2 5", "missing": b"\x091 1\n3 1\n12 1\n",
    "twice": b"\x011 1\n1 2\n", "no-worker": b"\x001 1\n9 1\n", "words": b"\x00one two\n", "one-word": b"\x001\n",
    "three-words": b"\x001 1 1\n",
    "zero": b"\x001 0\n", "nan": b"\x001 nan\n", "long": b"\x001 " + b"1" * 100 + b"\n", "reverse": b"\x032 1\n4 1\n3 1\n1 1\n",
    "gap": b"\x071 1\n2 1\n3 1\n4 1\n5 1\n9 1\n10 1\n11 1\n", "empty": b"", "nul": b"\x001 1\n\x002 2\n",
}
AVAILABILITIES = {  # the first byte is how many nodes are launched
    "all": b"\x01# NODE SECONDS STATE\n1 0.5 up\n1 2 0.5\n1 3 leaves\n2 1.5 up # another\r\n2,4,down\n0 9 down\n0 10 up\n",
    "order": b"\x021 3 up\n1 1 down\n5 1 up\n", "same-time": b"\x003 1 up\n3 1 leaves\n3 1 up\n", "twice": b"\x000 1 up\n0 2 up\n", "leaves": b"\x041 1 leaves\n", "away": b"\x017 1 down\n",
    "speeds": b"\x010 0 1e6\n0 0 1e-6\n0 1 1e7\n", "speed": b"\x010 0 nan\n", "last-node": b"\x00999999 1e9 up", "node": b"\x001000000 1 up\n", "time": b"\x000 1e10 up\n",
    "short": b"\x000 1\n", "four-words": b"\x000 1 up now\n", "long": b"\x000 1 " + b"u" * 100 + b"\n", "word": b"\x000 1 \x1b[31m\n", "nul": b"\x000 1 up\n\x001 2 up\n", "commas": b"\x00,,0,,1,,up,,\n", "empty": b"",
}
COSTS = {
    "three": b"\x031\n2.5\n1e3\n", "comments": b"\x01# us\n\n  7 \r\n", "too-few": b"\x051\n2\n", "more": b"\x011\n2\n3\n",
    "negative": b"\x01-1\n",
    "word": b"\x01x\n", "nul": b"\x011\x002\n", "long": b"\x01" + b" " * 300 + b"1\n", "no-newline": b"\x011", "escape": b"\x01\x1b[31m\n",
    "none": b"\x00", "infinite": b"\x011e999\n", "tiny": b"\x011e-400\n", "huge": b"\x011.7e308\n",
}
# the first byte says what it is: 0 a file, 1 a distribution; then the first iteration of the part, and how many
SIMULATED = {
    "each": b"\0\0\x031\n2.5\n1e3\n", "blocks": b"\0\x02\x05# measured\n0 4 1.5 # us\r\n4 100 0\n104 2^60 1e12\n", "later": b"\0\x05\x025 1 3\n6 1 4\n",
    "gap": b"\0\0\x030 2 1\n3 1 1\n", "end": b"\0\xff\xff0 2^63 1\n2^63 9223372036854775807 2\n", "few": b"\0\0\x051\n", "mixed": b"\0\0\x020 1 5\n7\n",
    "negative": b"\0\0\x01-1\n", "many": b"\0\0\x011e13\n", "none": b"\0\0\0", "word": b"\0\0\x01x\n", "two": b"\0\0\x011 2\n", "long": b"\0\0\x01" + b"1" * 99,
    "constant": b"\x01\0\x09constant:mean=5", "uniform": b"\x01\x03\x09uniform:cov=0.5,seed=3", "normal": b"\x01\0\x09normal:cov=10",
    "exponential": b"\x01\xff\xffexponential", "gamma": b"\x01\0\x09gamma:cov=10,mean=1e12", "pareto": b"\x01\0\x09pareto:alpha=1.05,mean=1e12",
    "lognormal": b"\x01\0\x09lognormal:cov=10", "phases": b"\x01\0\x09phases:phases=3,spread=1", "bimodal": b"\x01\0\x09bimodal:spread=1",
    "increasing": b"\x01\x09\xc8increasing:spread=1", "decreasing": b"\x01\xff\x01decreasing:spread=0.2", "unknown": b"\x01\0\x01cauchy", "cov": b"\x01\0\x01bimodal:cov=1",
    "cut": b"\x01\0\x01constant:mean=" + b"0" * 60 + b"1e3",
}
# the first byte says what it is: 0 the text of a platform, 1 the name of a described one, with changes
LINKS = b"node latency=600ns bandwidth=4GB/s\nnetwork latency=2.3us bandwidth=1e3MB/s\n"
PLATFORMS = {
    "small": b"\0nodes 8 cores=4\n" + LINKS, "sites": b"\0title Two # sites\r\nnodes 3 cores=2 speed=0.5 site=1\nnodes 5\n" + LINKS
    + b"sites latency=8ms bandwidth=5kB/s\nservice event=700ns message=300ns byte=0.1ns calculation=20ns\n",
    "no-sites": b"\0nodes 3 site=1\nnodes 5\n" + LINKS, "no-node": b"\0nodes 3\nnetwork latency=0s bandwidth=1GB/s", "no-nodes": b"\0" + LINKS,
    "none": b"\0nodes 0\n", "number": b"\0nodes cores=2\n", "word": b"\0nodes 3 core=2\n", "statement": b"\0hosts 3\n", "many": b"\0nodes 16777217\n",
    "too-many": b"\0" + b"nodes 16777216\n" * 2 + LINKS, "groups": b"\0" + b"nodes 1 site=63\n" * 65 + LINKS, "words": b"\0nodes 1 a b c d e f g h\n", "long": b"\0nodes " + b"1" * 64,
    "speed": b"\0nodes 1 speed=0\n", "unit": b"\0node latency=1 bandwidth=1GB/s\n", "still": b"\0node latency=1s bandwidth=0GB/s\n", "slow": b"\0node latency=1s bandwidth=1e-99GB/s\n",
    "half": b"\0node latency=1s\n", "late": b"\0network latency=61s\n", "byte": b"\0service byte=1s\n", "service": b"\0service disk=1s\n", "empty": b"\0", "xml": b"\0<platform version=\"4.1\">\n",
    "ranger": b"\x01ranger", "changed": b"\x01two-speeds:nodes=9,cores=3", "one": b"\x01two-sites:nodes=1", "bytes": b"\x01ranger:bandwidth=8GB/s,byte=0.03ns", "unknown": b"\x01moon", "wrong": b"\x01cluster:nodes=0", "cut": b"\x01cluster:nodes=" + b"0" * 60 + b"12",
}
HOSTS = {
    "list": b"\x46node1:16,node2:8,node1:2", "list-plain": b"\x22a,b,c", "list-empty": b"\x00", "list-no-name": b"\x00:4",
    "list-zero": b"\x00a:0",
    "file": b"\x47# hosts\nnode1 slots=16 max_slots=32\n\nnode2 slots=2 # old\n", "file-plain": b"\x21a\nb\nc\n",
    "file-empty": b"\x01# none\n",
    "file-bad": b"\x01a slots=x\n", "file-long": b"\x01" + b"n" * 300 + b"\n", "list-long": b"\x00" + b"n" * 255 + b":65536",
    "list-dash": b"\x00-oProxyCommand=x",
    "file-slots-long": b"\x01a slots=" + b"1" * 40, "file-blanks": b"\x01 \t a \t slots=4\r\n",
}
NODES = {
    "list": b"\x00n[01-04,7],gpu3", "plain": b"\x00a,b,c", "two-ranges": b"\x00r[1-2]n[098-101]-ib", "open": b"\x00n[1-2", "closed": b"\x00n]",
    "nested": b"\x00n[[1]]", "reverse": b"\x00n[2-1]", "twice": b"\x00a,a", "empty": b"\x00", "wide": b"\x00n[1-999999999]",
    "product": b"\x00n[1-64][1-64][1-64]", "long": b"\x00" + b"n" * 254 + b"[1-20]", "dash": b"\x00-n[1-2]", "newline": b"\x00a\nb",
    "counts": b"\x0416(x2),8,1", "counts-few": b"\x041,2", "counts-many": b"\x021(x999999999)", "counts-none": b"\x01", "counts-zero": b"\x020(x2)",
    "counts-bad": b"\x021(x,2", "span": b"\x011-12:00:00", "span-long": b"\x019999999999-23:59:59",
}
RULE = b"-" * 74 + b"\n"
MPIRUN = {
    "plain": b"\x03a line\nand another", "status": b"\x10" + RULE + b"Primary job  terminated normally, but 1 process returned\n"
    b"a non-zero exit code. Per user-direction, the job has been aborted.\n" + RULE + b"after\n",
    "name": b"\x07" + RULE + b"mpirun detected that one or more processes exited with non-zero status, thus causing\nthe job to be "
    b"terminated. The first process to do so was:\n\n  Process name: [[1,1],0]\n  Exit code:    4\n" + RULE,
    "error": b"\x05" + RULE + b"There are not enough slots available\n" + RULE, "signal": b"\x01mpirun: Forwarding signal 10 to job\nx\n",
    "rule": b"\x00" +
    RULE, "half": b"\x02" + RULE[:20], "empty": b"", "progress": b"\x04mandelbrot 10 %\r\x1b[K",
}


def records(kind, dims, rows, columns, data, full=0):
    return bytes([kind, dims, rows - 1, columns - 1, full]) + data


RESULTS = {
    "uint8": records(0, 1, 3, 4, bytes(range(12)), 11), "uint16": records(1, 1, 2, 2, struct.pack("<4H", 0, 1, 65535, 9)),
    "uint32": records(2, 0x81, 2, 3, struct.pack("<6I", *range(6))), "uint64": records(3, 0, 2, 1, struct.pack("<2Q", 0, 2**64 - 1)),
    "int32": records(4, 1, 2, 2, struct.pack("<4i", -2**31, -1, 0, 2**31 - 1)),
    "int64": records(5, 1, 1, 2, struct.pack("<2q", -2**63, 2**63 - 1)),
    "float32": records(6, 1, 2, 2, struct.pack("<4f", 0.1, float("nan"), float("-inf"), 3e38)),
    "float64": records(7, 1, 2, 2, struct.pack("<4d", 5e-324, -0.0, float("inf"), 1.7e308)),
    "list": records(7, 0, 3, 1, struct.pack("<3d", 1, 2, 3)),
    "three-dimensions": records(0, 2, 2, 3, bytes(6)), "sheet": records(1, 2, 7, 6, bytes(range(84))),
    "sheet-short": records(3, 2, 7, 9, bytes(100)), "short": records(3, 1, 4, 4, b"abc"),
    "equal": records(7, 1, 2, 2, struct.pack("<4d", 2, 2, 2, 2)),
    "all-nan": records(6, 1, 1, 2, b"\xff" * 8), "opposite": records(7, 1, 1, 2, struct.pack("<2d", -1.7e308, 1.7e308)), "empty": b"",
}
# The two-dimensional ones as pictures, too.
RESULTS |= {name + "-png": data[:1] + bytes([data[1] | 0x40]) + data[2:] for name, data in RESULTS.items() if data[1:2] in (b"\1", b"\2", b"\x81")}


def crc32c(data, before=0):
    crc = before ^ 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def journal(ranges=(), first=0, count=100, version=1, text=b"the kernel=mandelbrot\0--output=a.npy\0", tail=b"", first_byte=0):
    head = b"HDSSJRNL" + struct.pack("<IIQQ", version, len(text), first, count) + text
    crc = crc32c(head)
    data = head + struct.pack("<I", crc)
    for group in ranges: # (ranges, deaths of workers, of processes): a record of deaths; (boundary, data): a recovery point;
        # (count, inputs, None, None): a growth
        if isinstance(group, tuple) and len(group) == 4:
            number, body = struct.pack("<I", 1 | 3 << 30), struct.pack("<QQQ", group[1], first, group[0])
            crc = crc32c(number + body, crc)
            data += number + struct.pack("<I", crc) + body
            continue
        if isinstance(group, tuple) and len(group) == 2:
            listed = struct.pack("<Q", len(group[1])) + group[1]
            listed += bytes(-len(listed) % 16)
            body = struct.pack("<Q", group[0]) + listed
            number = struct.pack("<I", len(listed) // 16 | 1 << 30)
            crc = crc32c(number + body, crc)
            data += number + struct.pack("<I", crc) + body
            continue
        one_of_deaths = isinstance(group, tuple)
        listed = b"".join(struct.pack("<QQ", *one) for one in (group[0] if one_of_deaths else group))
        number, digest = struct.pack("<I", len(group)), struct.pack("<Q", len(data))
        if one_of_deaths:
            number, digest = struct.pack("<I", len(group[0]) | 1 << 31), struct.pack("<II", group[1], group[2])
        crc = crc32c(number + digest + listed, crc)
        data += number + struct.pack("<I", crc) + digest + listed
    return bytes([first_byte]) + data + tail


GROUPS = [[(0, 10)], [(20, 5), (30, 1)], [(10, 10)]]
POINTS = [GROUPS[0], (5, b"boundary"), GROUPS[1], (17, bytes(9)), GROUPS[2], (20, b"a longer boundary of a loop"), ([(40, 1)], 0, 3)]
DEATHS = [([(5, 20)], 1, 0), *GROUPS, ([(22, 5), (0, 1)], 2, 0), ([(40, 1)], 0, 3), ([(23, 1)], 3, 1)]
GROWN = [(5, 7, None, None), (30, 8, None, None), GROUPS[0], (40, 2**64 - 1, None, None), ([(35, 1)], 0, 3), GROUPS[1], GROUPS[2]]
JOURNALS = {
    "begun": journal(), "groups": journal(GROUPS), "mended": journal(GROUPS, first_byte=1), "torn": journal(GROUPS)[:-3],
    "tail": journal(GROUPS, tail=b"x" * 20),
    "complete": journal([[(0, 100)]]), "twice": journal([[(0, 10)], [(5, 2)]]), "outside": journal([[(99, 2)]]), "no-range": journal([[]]),
    "empty-range": journal([[(5, 0)]]), "overflow": journal([[(2**64 - 1, 2)]]), "no-text": journal(text=b""),
    "no-nul": journal(text=b"a=b"),
    "version": journal(version=4), "foreign": b"\x00#!/bin/sh\n", "short": journal()[:20],
    "loop-overflow": journal(first=2**64 - 2, count=9),
    "part": journal([[(1000, 1)]], 1000, 10), "empty": b"", "changed": journal(GROUPS)[:-20] + b"!" + journal(GROUPS)[-19:],
    "mended-changed": journal(GROUPS, first_byte=1)[:-20] + b"!" + journal(GROUPS)[-19:],
    "deaths": journal(DEATHS, version=2), "mended-deaths": journal(DEATHS, version=2, first_byte=1), "deaths-too-early": journal(DEATHS),
    "deaths-outside": journal([([(99, 2)], 1, 0)], version=2), "no-deaths": journal([([(9, 2)], 0, 0)], version=2),
    "points": journal(POINTS, version=2), "mended-points": journal(POINTS, version=2, first_byte=1), "points-too-early": journal(POINTS),
    "point-outside": journal([(100, b"x")], version=2), "point-empty": journal([(9, b"")], version=2),
    "grown": journal(GROWN, count=0, version=3), "mended-grown": journal(GROWN, count=0, version=3, first_byte=1),
    "grown-too-early": journal(GROWN, count=0, version=2), "grown-back": journal([*GROWN, (40, 1, None, None)], count=0, version=3),
    "grown-beyond": journal([(9, 1, None, None)], 2**64 - 2, 1, version=3), "grown-not-enough": journal([GROUPS[0], *GROWN], count=0, version=3),
    "most-deaths": journal([([(9, 2)], 2**32 - 1, 2**32 - 1)], version=2),
}


def steps(machine, technique, flags, length, *events):
    """Events: a number as it is, or (sender, message)."""
    data = bytes([machine, technique, flags, length])
    for event in events:
        if isinstance(event, int):
            data += bytes([event])
        else:
            data += bytes([0, event[0]]) + struct.pack("<H", len(event[1])) + event[1]
    return data


CENTRAL, SUPERMASTER, MASTER, WORKER = range(4)
OUTPUT, PROBE, JOURNAL, FEEDBACK, AHEAD, LOADS, DEPENDENT = 1, 2, 4, 8, 16, 64, 128
TIMER, STORED, LOST, COMPUTED, DRAIN, PROBLEM, FAILED = range(4, 11)
MORE = 136  # of the bytes of a timer one that is 128 or above
JOIN, JOIN_TWO, LEAVE, LEAVE_NOW, LEAVE_FIRST = 202, 213, 224, 235, 246  # a master joins with one or two workers; the last or first one leaves
ELASTIC, EMPTY = 4, 8  # beside the machine, in the first byte
ASK, GOODBYE, END = request(0, 1, 0, own=bytes(32)), MESSAGES["goodbye"], header(0x14)


def refill(*chunks):
    return header(0x21, 0, len(chunks)) + b"".join(struct.pack("<QQI", *chunk) for chunk in chunks)


def given(chunk, first, count):
    return header(0x13, 0, 0, chunk) + struct.pack("<QQ", first, count)


def report(flags, *ranges):
    return header(0x20, flags, len(ranges), 3) + b"".join(struct.pack("<QQQ", *one) for one in ranges)


def told(rank):
    return header(0x10, 0, 2, rank) + MESSAGES["speed"][12:]


BYE = [(worker, GOODBYE) for worker in range(1, 7)]
LIVES = {
    "central": steps(CENTRAL, 1, 0, 3, (1, ASK), (2, ASK), (1, request(chunk=1)), (2, request(chunk=1)), (1, request(chunk=2, asks=0)),
        *BYE),
    "central-grown": steps(CENTRAL, 1, FEEDBACK, 3, (1, ASK), (2, ASK), (1, request(chunk=1)), (2, request(chunk=1)), (1, request(chunk=2, asks=0)),
        TIMER, (1, ASK), TIMER, TIMER, (2, request(chunk=2)), DRAIN, (1, request(chunk=3, asks=0)), *BYE),
    "central-told": steps(CENTRAL, 1, FEEDBACK | AHEAD, 3, (1, ASK), (2, ASK), (1, request(chunk=1)), MORE, MORE, (2, request(chunk=1)), TIMER, *[MORE] * 20, *BYE),
    "supermaster-grown": steps(SUPERMASTER, 1, FEEDBACK | JOURNAL, 1, (1, report(1)), (2, report(1)), *[TIMER] * 22, (1, report(1)), (1, GOODBYE)),
    "central-loads": steps(CENTRAL, 1, LOADS, 3, (1, request(0, 1, 0, own=completion(0, 0, 0, 0, 0, 640))), (2, ASK),
        (1, request(chunk=1, own=completion(load=256))), *BYE),
    "supermaster-loads": steps(SUPERMASTER, 8, LOADS, 156, (1, loads((3, 640))), (1, report(1)), (2, loads((3, 256)))),
    "master-loads": steps(MASTER, 0, LOADS, 0, (3, request(0, 1, 0, own=completion(0, 0, 0, 0, 0, 640))), (0, refill((0, 10, 3)))),
    "central-dependent": steps(CENTRAL, 1, DEPENDENT, 5, (1, ASK), (2, ASK), (1, ASK), (1, request(chunk=1, asks=2)), (2, request(chunk=1)), *BYE),
    "supermaster-dependent": steps(SUPERMASTER, 8, DEPENDENT, 156, (1, report(1)), (2, report(1)), (2, neighbour(2**18, 5)), (1, report(1)),
        (1, neighbour(99, 3)), (1, GOODBYE)),
    "master-dependent": steps(MASTER, 0, DEPENDENT, 0, (3, ASK), (5, ASK), (0, refill((10, 10, 5), (20, 10, 3), (40, 10, 6))), (0, neighbour(50, 4)),
        (6, ASK), (0, neighbour(30, 4)), (0, neighbour(30, 4)), (3, request(chunk=1)), (0, END), (3, GOODBYE)),
    "central-points": steps(CENTRAL, 8, JOURNAL | DEPENDENT, 156, (1, ASK), (2, ASK), (1, request(chunk=1)), (1, boundary(2, 0)), TIMER,
                            (2, boundary(4, 0)), (2, request(chunk=1))),
    "worker-dependent": steps(WORKER, 0, DEPENDENT | AHEAD, 1, (4, boundary(10, 0)), (1, given(1, 10, 10)), (1, given(2, 20, 10)), COMPUTED + 22,
        (4, boundary(10, 8)), COMPUTED, COMPUTED, (1, neighbour(30, 6)), (5, boundary(77, 0, 4, struct.pack("<Q", 1000))), (5, boundary(77, 9)),
        (1, END)),
    "central-output": steps(CENTRAL, 1, OUTPUT, 5, (1, ASK), (1, request(3, chunk=1, tail=bytes(8))), STORED,
        (1, request(3, chunk=2, tail=bytes(8))), LOST, *BYE),
    "central-probe": steps(CENTRAL, 7, PROBE, 156, *[(rank, told(rank)) for rank in range(1, 7)], (1, ASK), (1, request(chunk=1)), TIMER),
    "central-drain": steps(CENTRAL, 8, JOURNAL, 156, (1, ASK), (2, ASK), DRAIN, (1, request(chunk=1)), TIMER, (2, request(chunk=1, asks=0)),
        *BYE),
    "central-ahead": steps(CENTRAL, 15, AHEAD | JOURNAL, 152, (1, request(0, 3, 0, own=bytes(32))), (1, request(chunk=2, more=1, asks=2)),
        TIMER, PROBLEM, *BYE),
    "central-data": steps(CENTRAL, 0, OUTPUT, 152, (1, ASK), (1, MESSAGES["result"][:4] + struct.pack("<IQQ", 1, 10, 7)),
        (1, request(5, chunk=1, tail=struct.pack("<Q", 8))), STORED),
    "central-failure": steps(CENTRAL, 1, 0, 5, (1, ASK), (2, ASK), (1, failure(1, 5)), (3, ASK), (3, failure(1, 5)), TIMER, (2, failure(1, 6, 1)),
        *BYE),
    "master-failure": steps(MASTER, 0, 0, 0, (0, suspect(2, 3, 2, 1, 3)), (3, ASK), (5, ASK), (0, refill((0, 4, 3), (4, 4, 5))), (3, failure(1, 0)),
        (3, request(chunk=1)), TIMER, TIMER, (5, request(chunk=1))),
    "worker-careful": steps(WORKER, 0, 0, 0, (1, header(0x13, 1, 0, 1) + struct.pack("<QQ", 0, 2)), FAILED, FAILED + 11, COMPUTED, (1, END)),
    "central-recall": steps(CENTRAL, 15, AHEAD, 3, (1, ASK), (2, ASK), (3, ASK), (1, request(chunk=1)), (1, returned((9, 1))), (2, returned()),
        (3, returned((2**63, 1))), (2, request(chunk=1)), TIMER, *BYE),
    "central-loser": steps(CENTRAL, 22, 0, 61, (1, ASK), (2, ASK), (3, ASK), (2, request(chunk=1)), TIMER, TIMER, (2, request(chunk=2)), (2, request(chunk=3)),
        (1, returned((66, 5))), (1, returned((62, 4))), (3, returned()), (3, returned((92, 30))), (1, request(chunk=1)), (1, returned()), *BYE),
    "supermaster-recall": steps(SUPERMASTER, 8, 0, 156, (1, report(1)), (2, report(1)), (1, recall(2)), (2, returned((2, 3))), (2, report(1)),
        (2, recall(1)), (1, returned()), (1, GOODBYE), (2, GOODBYE)),
    "master-recall": steps(MASTER, 0, 0, 0, (3, ASK), (0, refill((0, 10, 3), (10, 5, 5))), (0, recall(2)), (0, recall(1)), (3, returned((5, 5))),
        (3, request(chunk=1)), (0, END), (3, GOODBYE)),
    "worker-recall": steps(WORKER, 0, AHEAD, 0, (1, given(1, 0, 10)), (1, given(2, 10, 5)), (1, recall(1)), (1, recall(1)), COMPUTED, (1, recall(2**32 - 1)),
        COMPUTED, (1, recall(1)), (1, END)),
    "central-nobody": steps(CENTRAL, 1, 0, 3, (0, ASK), (1, request(chunk=9))),
    "central-echo": steps(CENTRAL, 1, PROBE, 3, (1, MESSAGES["echo"])),
    "supermaster": steps(SUPERMASTER, 8, 0, 156, (1, report(1)), (2, report(1)), (1, report(1, (80, 1, 1))), (1, report(0)), (1, GOODBYE),
        (2, GOODBYE)),
    "supermaster-joined": steps(SUPERMASTER, 8, 0, 156, (1, report(1)), JOIN_TWO, (7, report(1)), (7, report(0, (0, 1, 1))), (2, report(1)), LEAVE, (7, GOODBYE), JOIN, (10, report(1)),
        LEAVE_NOW, (10, GOODBYE), DRAIN, (1, GOODBYE), (2, GOODBYE)),
    "supermaster-joined-probe": steps(SUPERMASTER, 21, PROBE, 156, *[(1 + rank % 2, told(rank)) for rank in range(3, 7)], (1, report(1)), JOIN_TWO, (7, report(1)), (7, told(8)), (7, told(9)), JOIN,
        (10, told(11)), (10, report(1)), LEAVE_FIRST, (7, GOODBYE), JOIN, TIMER, TIMER, (10, report(1))),
    "supermaster-joined-gathering": steps(SUPERMASTER, 17, PROBE | FEEDBACK, 148, (1, told(3)), JOIN, JOIN_TWO, (2, told(4)), (7, told(8)), (1, told(5)), (2, told(6)), LEAVE, (7, report(1)), (1, report(1)), (9, GOODBYE)),
    "supermaster-joined-recall": steps(SUPERMASTER, 8, 0, 156, (1, report(1)), (2, report(1)), JOIN_TWO, (7, report(1)), (7, recall(1)), (1, returned((2, 3))), (2, returned((5, 1))), LEAVE, (7, returned()), (7, GOODBYE)),
    "supermaster-joined-dependent": steps(SUPERMASTER, 8, DEPENDENT, 156, (1, report(1)), JOIN, (7, report(1)), (7, GOODBYE), (2, report(1))),
    "supermaster-joined-journal": steps(SUPERMASTER, 12, JOURNAL | OUTPUT | LOADS, 156, (1, report(1)), JOIN, (7, loads((8, 640))), (7, report(1)), (1, ASK), (7, report(1)), DRAIN, JOIN, (7, GOODBYE), (9, GOODBYE)),
    "supermaster-joined-all": steps(SUPERMASTER | ELASTIC, 8, 0, 156, (1, report(1)), (2, report(1)), (1, ASK), (2, ASK), (1, ASK), JOIN, JOIN, JOIN_TWO, JOIN_TWO, JOIN, (7, report(1)), (9, report(1)),
        (11, report(1)), (14, report(1)), (7, ASK), TIMER, LEAVE_FIRST, LEAVE, LEAVE_NOW),
    "supermaster-empty": steps(SUPERMASTER | ELASTIC | EMPTY, 8, 0, 156, TIMER, JOIN_TWO, (1, report(1)), LEAVE, (1, GOODBYE), JOIN, (4, report(1)), (4, report(0, (0, 1, 1))), TIMER, DRAIN, (4, GOODBYE)),
    "supermaster-empty-probe": steps(SUPERMASTER | ELASTIC | EMPTY, 21, PROBE | FEEDBACK, 148, JOIN, JOIN_TWO, (1, told(2)), (1, report(1)), (3, told(4)), LEAVE, (3, report(1)), TIMER, (1, feedback(2)), (1, report(1))),
    "supermaster-empty-drain": steps(SUPERMASTER | EMPTY, 1, 0, 3, DRAIN, JOIN, (1, GOODBYE)),
    "supermaster-wrong": steps(SUPERMASTER, 8, JOURNAL, 156, (1, report(1)), (1, report(0, (0, 2**63, 1))), TIMER, DRAIN, (1, GOODBYE),
        (2, GOODBYE)),
    "supermaster-probe": steps(SUPERMASTER, 21, PROBE, 156, *[(1 + rank % 2, told(rank)) for rank in range(3, 7)], (1, report(1)),
        (1, MESSAGES["stats"])),
    "supermaster-learns": steps(SUPERMASTER, 17, FEEDBACK, 148, (1, report(1)), (1, feedback(2)), (1, report(1)), (3, MESSAGES["problem"])),
    "supermaster-problem": steps(SUPERMASTER, 3, 0, 148, (2, MESSAGES["problem"]), (1, MESSAGES["drain"]), (1, GOODBYE), (2, GOODBYE)),
    "master": steps(MASTER, 0, 0, 0, (3, ASK), (0, refill((0, 10, 3), (10, 5, 5))), (5, ASK), (3, request(chunk=1)), TIMER, (0, END),
        (3, GOODBYE), (5, GOODBYE), (6, GOODBYE)),
    "master-output": steps(MASTER, 0, OUTPUT | FEEDBACK | JOURNAL, 0, (3, ASK), (0, refill((0, 1, 3))),
        (3, request(3, chunk=1, tail=bytes(8))), STORED, TIMER, (0, header(0x21, 2))),
    "master-wrong": steps(MASTER, 0, 0, 0, (0, refill((0, 10, 4))), (4, ASK), (3, request(chunk=1)), (0, ASK), (3, MESSAGES["result"])),
    "master-drain": steps(MASTER, 0, FEEDBACK, 0, DRAIN, (3, told(3)), (5, MESSAGES["echo"]), (0, header(0x14, 1)), (3, GOODBYE)),
    "central-cancelled": steps(CENTRAL, 8, 0, 156, (1, ASK), (2, ASK), DRAIN, DRAIN + 11, (1, returned((1, 1))), (2, request(chunk=1, asks=0)), *BYE),
    "master-cancelled": steps(MASTER, 0, 0, 0, (3, ASK), (0, refill((0, 10, 3))), (0, header(0x14, 1)), (0, header(0x14, 9)), (3, returned((0, 10))), (3, GOODBYE)),
    "worker-cancelled": steps(WORKER, 0, 0, 0, (1, given(1, 0, 10)), (1, header(0x14, 1)), (1, header(0x14, 9))),
    "worker": steps(WORKER, 0, 0, 0, (1, given(1, 0, 10)), COMPUTED, (1, given(2, 10, 5)), COMPUTED, TIMER, (1, END)),
    "worker-output": steps(WORKER, 0, OUTPUT | AHEAD, 2, (1, given(1, 0, 10)), (1, MESSAGES["assign"]), COMPUTED + 11, COMPUTED, COMPUTED,
        (1, header(0x14, 1)), COMPUTED),
    "worker-probe": steps(WORKER, 0, PROBE, 0, *[(1, header(0x16, 0, 0, i)) for i in range(1, 33)], COMPUTED, (1, given(1, 0, 3)), COMPUTED,
        (1, END)),
    "worker-unasked": steps(WORKER, 0, 0, 0, *[(1, given(i, 10 * i, 10)) for i in range(1, 50)], COMPUTED),
    "worker-wrong": steps(WORKER, 0, 0, 0, (1, ASK), PROBLEM, DRAIN),
    "worker-numbers": steps(WORKER, 0, 0, 0, (1, given(7, 0, 1)), (1, given(7, 0, 1)), (1, given(2**32 - 1, 0, 2**63)), COMPUTED, COMPUTED),
}

def block(first, lengths, streams=2, flags=0, tail=b""):
    """The block of as many iterations as there are lengths, which are those on each stream."""
    table = b"".join(struct.pack("<I", flags) + struct.pack("<I", length) * streams for length in lengths)
    return struct.pack("<II", len(lengths), streams) + table + bytes([97 + first % 26]) * (sum(lengths) * streams) + tail


def parts(*entries, streams=2, iterations=100, corrected=1, tail=b""):
    """Of (run, first, count, block); the fuzz target writes the checksums."""
    listed = b"".join(b"HDSB" + struct.pack("<IQQQQQ", run, first, count, len(data), 0, 0) + data for run, first, count, data in entries)
    return bytes([streams - 1, iterations, corrected]) + listed + tail


TEN = (1, 0, 10, block(0, range(10)))
PARTS = {
    "none": parts(), "one": parts(TEN), "two": parts((1, 10, 5, block(1, [3] * 5)), TEN), "gap": parts(TEN, (1, 50, 1, block(2, [0]))),
    "again": parts(TEN, (2, 3, 4, block(3, [2] * 4))), "covered": parts((1, 3, 4, block(3, [2] * 4)), TEN, (1, 0, 10, block(4, [1] * 10))),
    "nested": parts(TEN, (3, 2, 3, block(5, [1] * 3)), (2, 4, 9, block(6, [1] * 9)), (1, 12, 4, block(7, [4] * 4))),
    "failed": parts((1, 0, 3, block(0, [1, 2, 3], flags=1))), "flag": parts((1, 0, 3, block(0, [1, 2, 3], flags=2))),
    "count": parts((1, 0, 4, block(0, [1, 2, 3]))), "beyond": parts((1, 98, 3, block(0, [1, 2, 3]))),
    "overflow": parts((1, 2**64 - 1, 3, block(0, [1, 2, 3]))), "long": parts((1, 0, 1, block(0, [1], tail=b"xx"))),
    "one-stream": parts((1, 0, 9, block(0, [9] * 9, streams=1)), streams=1), "other-streams": parts(TEN, streams=3),
    "torn": parts(TEN, TEN)[:-5], "unsummed": parts(TEN, corrected=0), "tail": parts(TEN, tail=b"HDSB" + bytes(60)),
}

OFF = {
    "box": b"OFF\n4 3 0\n0 0 0\n1 0 0\n0 2 0\n0 0 4\n3 0 2 1\n3 0 3 2\n3 0 1 3\n", "normals": b"# c\nNOFF 2 0\n0 0 0 0 0 1\n1 1 1 3 0 4\n",
    "colours": b"COFF\n3 1\n0 0 0 9 9 9 9\n\n1 0 0 0 0 0 0 # x\r\n0 1 0\n3 0 1 2 0.5 0.5 0\n", "edge": b"OFF\n3 2 1\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n2 0 1\n",
    "nan": b"OFF\n1 0 0\nnan 0 0\n", "index": b"OFF\n1 1 0\n0 0 0\n3 0 0 1\n", "cut": b"OFF\n3 1 0\n0 0 0\n1 0", "none": b"OFF\n0 0 0\n",
    "counts": b"OFF\n9e18 2^63 0\n", "corners": b"OFF\n1 1 0\n0 0 0\n99999999999 0\n", "flat": b"OFF\n3 1 0\n0 0 0\n1 0 0\n2 0 0\n3 0 1 2\n",
    "large": b"NOFF\n1 0 0\n1e12 -1e12 1e12 1e-150 0 1e12\n", "nul": b"OFF\n1 0 0\n0 \0 0\n", "empty": b"", "binary": b"OFF BINARY\n\0\0\0\1",
}
OBJ = {
    "box": b"mtllib x\nv 0 0 0\nv 1 0 0 1\nvt 0 1\nv 0 2 0\nv 0 \\\n0 4\nf 1 3 2\nf 1/1 4/1 3/1\nf -4 -3 -1\n",
    "normals": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 2 0 0\nvn 0 2 0\nf 1//1 2//2 3/7/-1\n", "cloud": b"v 0 0 0\nvn 0 0 5\nv 1 1 1\nvn 3 0 -4\n",
    "behind": b"f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0", "index": b"v 0 0 0\nf 1 1 2\n", "zero": b"v 0 0 0\nf 0 1 1\n", "back": b"v 0 0 0\nf -2 -1 -1\n",
    "least": b"v 0 0 0\nf -9223372036854775808 1 1\n", "two": b"v 0 0 0\nf 1 1", "word": b"solid x\n", "comment": b"# C:\\\nv 0 0 0 # \\\nvn 0 1 0\\", "empty": b"",
    "unnormal": b"v 0 0 0\nvn 0 0 0\n", "inf": b"v inf 0 0\n", "slashes": b"v 0 0 0\nf 1// 1/ /1\n",
}


def ply(order, vertices=3, faces=1, body=None, form="", count="uchar", last=2):
    """A triangle; `order` is that of struct, or nothing for text."""
    form = form or {"": "ascii", "<": "binary_little_endian", ">": "binary_big_endian"}[order]
    head = (f"ply\nformat {form} 1.0\ncomment c\nelement vertex {vertices}\nproperty float x\nproperty double y\nproperty uchar red\n"
            f"property int z\nelement face {faces}\nproperty list {count} int vertex_indices\nend_header\n").encode()
    if body is None and order:
        body = b"".join(struct.pack(order + "fdBi", *point) for point in ((0, 0, 1, 0), (1, 0, 2, 0), (0, 1, 3, 0)))
        body += struct.pack(order + "B3i", 3, 0, 1, last)
    return head + (body if body is not None else b"0 0 1 0\n1 0 2 0\n0 1 3 0\n3 0 1 %d\n" % last)


NORMALS = b"ply\nformat ascii 1.0\nelement tag 1\nproperty list int short a\nelement vertex 1\n" + b"".join(
    b"property float %s\n" % name for name in (b"x", b"y", b"z", b"nx", b"ny", b"nz")) + b"end_header\n2 7 8\n0 0 0 0 0 2\n"
PLY = {
    "text": ply(""), "little": ply("<"), "big": ply(">"), "normals": NORMALS, "index": ply("", last=3), "index-little": ply("<", last=-1),
    "cut": ply("")[:-9], "cut-big": ply(">")[:-2], "vertices": ply("<", vertices=2**62), "faces": ply("<", faces=2**62),
    "none": ply("", 0, 0, b""), "length": ply("<", count="int"), "nan": ply("<", 1, 0, struct.pack("<fdBi", float("nan"), 0, 0, 0)),
    "far": ply(">", 1, 0, struct.pack(">fdBi", 0, 1e300, 0, 0)), "form": ply("", form="utf8"), "list-type": ply("", count="float"),
    "no-vertex": b"ply\nformat ascii 1.0\nend_header\n", "no-end": ply("")[:150], "empty": b"",
    "nothing": b"ply\nformat ascii 1.0\nelement a 99\nelement vertex 1\nproperty int x\nend_header\n" + b" " * 99,
}


def png(rows, width, height, bits=8, colour=0, interlaced=0, other=b""):
    """Rows as they stand in the file, with their filters; not compressed, so that every zlib writes the same."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    stored = b"\x78\x01\x01" + struct.pack("<HH", len(rows), len(rows) ^ 0xffff) + rows + struct.pack(">I", zlib.adler32(rows))
    head = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + other + chunk(b"IDAT", stored) + chunk(b"IEND", b"")


GRAY = png(b"\0\x10\x20\0\x30\x40", 2, 2)
IMAGES = {
    "pgm": b"P5 2 2 255\n\0\x40\x80\xff", "comment": b"P5\n# a\n2 # b\n1\n255\n\0\xff", "text": b"P2 2 2 15 0 5\n10 15", "ppm": b"P6 1 1 255\n\1\2\3",
    "ppm-text": b"P3 1 1 9\n1 2 3", "deep": b"P5 1 2 65535\n\0\1\xff\xff", "low": b"P5 1 1 1\n\7", "cut": b"P5 2 2 255\n\0\x40", "cut-head": b"P5 2",
    "none": b"P5 0 1 255\n", "huge": b"P5 1048576 4096 255\n", "larger": b"P5 99999999999999999999 1 255\n", "highest": b"P5 1 1 65536\n\0", "bits": b"P4 8 1\n\0",
    "empty": b"", "word": b"picture", "png": GRAY, "png-cut": GRAY[:-20], "png-head": GRAY[:20], "png-crc": GRAY[:29] + b"\0\0\0\0" + GRAY[33:], "png-magic": GRAY[:8],
    "png-bits": png(b"\0\x80\0\x40", 2, 2, bits=1), "png-deep": png(b"\0\1\2\3\4", 2, 1, bits=16), "png-rgb": png(b"\0\1\2\3", 1, 1, colour=2),
    "png-alpha": png(b"\0\1\2\3\x80", 1, 1, colour=6), "png-gray-alpha": png(b"\0\1\x80", 1, 1, colour=4),
    "png-palette": png(b"\0\0\0\1", 1, 2, colour=3, other=struct.pack(">I", 6) + b"PLTE\1\2\3\4\5\6" + struct.pack(">I", zlib.crc32(b"PLTE\1\2\3\4\5\6"))),
    "png-interlaced": png(b"\0\x10\0\x20\0\x30\x40", 2, 2, interlaced=1), "png-large": png(b"\0", 1 << 20, 1 << 12), "png-zero": png(b"\0", 0, 1),
}


STATUS = {  # the first byte says how it is cut
    "empty": b"", "begun": b"\x04begun 1234\n", "done": b"\x00begun 1234\nlead 0\n", "lossy": b"\x1fbegun 9\nlead 3 lossy\n",
    "worker": b"\x02worker 1\nlead 0\n", "unknown": b"\x05lead 7\nlead -1\nmaster x\n",
    "long": b"\x0a" + b"x" * 100 + b"\nlead 4\n", "half": b"\x03lead 1", "nul": b"\x07super\0master 0\n\n",
}

LIST, TABLE, SHELL, CSV, HEADER, NO_HEADER = 1, 2, 4, 8, 16, 32


def tasks(kind, commands, table="", count=0):
    return bytes([kind, count]) + commands.encode() + b"\0" + table.encode()


TASKS = {
    "list": tasks(LIST, "true\n./fit a.dat -k 3\n# none\n\nA=1 B=2 env\n"), "crlf": tasks(LIST, "true\r\nfalse\r\n"),
    "quotes": tasks(LIST, "echo 'a b' \"c \\\" d\" e\\ f # rest\n"), "open": tasks(LIST, "echo 'a\n"), "pipe": tasks(LIST, "a | b\n"),
    "count": tasks(0, "work {} {#} {rank} {node} \\{x}", count=9), "tsv": tasks(TABLE, "fit {file} -k {k} {2}", "file\tk\na\t1\nb\t2\n"),
    "csv": tasks(TABLE + CSV, "fit {file} {}", "file,k\n\"a, \"\"b\"\"\",1\nc,2\n"), "column": tasks(TABLE, "fit {none}", "file\na\n"),
    "ragged": tasks(TABLE + CSV, "fit {1}", "a,b\n1\n"), "both": tasks(LIST + TABLE, "one {a}\ntwo {a}\n", "a\n1\n2\n"),
    "shell": tasks(SHELL, "cat {} | wc; echo $HOME", count=3), "shell-table": tasks(LIST + TABLE + SHELL, "echo {a} > {b}\n", "a\tb\nx y\t'z'\n"),
    "nothing": tasks(LIST, ""), "assigned": tasks(0, "A=1"), "nul": tasks(LIST + TABLE, "a", "b\0c\nd\n"),
    "header": tasks(TABLE + HEADER, "fit {.} {1/} {-1//}", "a.dat\nb/c.dat\n"), "no-header": tasks(TABLE + NO_HEADER, "fit {2} {%}", "a.dat\t1\n\nb.dat\t2\n"),
    "no-row": tasks(TABLE, "fit {}", "a.dat\nb.dat\n"),
}

SHELL_LINES, IN_FOLDER = 1, 2


def rows(kind, command, *lines):
    return bytes([kind]) + command.encode() + b"\0" + "".join(line + "\n" for line in lines).encode()


LISTS = {
    "all": rows(0, "wc", "1", "a.dat", "b c.dat", "\\."), "open": rows(0, "wc {}", "1", "a", "b"), "no-title": rows(0, "wc"),
    "parts": rows(0, "e {.} {/} {//} {/.} {1.} {-1/} {3} {#} {%}", "1\t2", "a/b.c\td/e.f", "/\t", "a//b/\t..", "\\."),
    "names": rows(0, "fit {file.} {k} {2}", "file\tk", "a.dat\t3", "\\."), "unknown": rows(0, "fit {fiel}", "file\tk", "a\t3", "\\."),
    "escapes": rows(0, "e {1} {2}", "1\t2", "a\\tb\\n\\r\\\\\tc", "\\."), "escape": rows(0, "e", "1", "a\\x", "\\."),
    "lines": rows(0, "", "1", "echo a 'b c' # d", "", "A=1", "echo {}", "\\."), "pipe": rows(0, "", "1", "a | b", "\\."),
    "shell": rows(SHELL_LINES, "e {} \"{.}\" '{/}' $(e {}) | wc", "1\t2", "a b.c\t'\"", "\\."), "shell-lines": rows(SHELL_LINES, "", "1", "a | b", "", "\\."),
    "folder": rows(IN_FOLDER, "e", "1", "a/b.c", "\\."), "quoted": rows(0, "e '{}' x{}y \\{} A={}", "1\t2", "a\tb", "\\."), "behind": rows(0, "e", "1", "\\.", "a", "\\."),
    "many": rows(0, "e {}", "1", *(str(i) for i in range(200)), "\\."), "perl": rows(0, "e {= s/a/b/ =}", "1", "a", "\\."), "mark": rows(0, "e", "\ufeff1", "a", "\\."),
    "order": rows(0, "e {#}", "1", "\\#7\ta", "b", "\\#"), "nul": rows(0, "e", "1", "a\0b", "\\."), "number": rows(SHELL_LINES, "e $(({1} + 1))", "1", "7", "a[1]", "\\."),
}

LOG_COMMON = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand"
LOG_OWN = LOG_COMMON + "\tWorker\tNode\tCPUtime\tMaxRSS\tTries\tEnd\tOutbytes\tErrbytes"


def log_row(number=1, status=0, signal=0, command="./fit a.dat", end="exit", more="\t2\t0\t0.125\t2048\t1"):
    return f"{number}\tn1\t1700000000.500\t0.250\t0\t12\t{status}\t{signal}\t{command}" + (f"{more}\t{end}\t7\t5" if more else "")


def task_log(*rows, heading=LOG_OWN, tail=""):
    return "\n".join([heading, *rows]).encode() + b"\n" + tail.encode()


TASK_LOGS = {
    "empty": b"", "heading": task_log(), "one": task_log(log_row()), "failed": task_log(log_row(1, 1), log_row(2, 1), log_row(3, 3)),
    "ends": task_log(log_row(1, 0, 9, end="signal"), log_row(2, end="timeout"), log_row(3, 127, end="not-started"), log_row(4, end="not-kept")),
    "parallel": task_log(log_row(more=""), log_row(2, -1, 15, "sleep\t9", more=""), heading=LOG_COMMON), "torn": task_log(log_row(), tail="2\tn1"),
    "blanks": task_log("1\t:\t1\t     0.001\t0\t5\t0\t0\t", heading=LOG_COMMON), "other": b"something\nelse\n",
    "numbers": task_log(log_row("0"), log_row("x"), log_row("18446744073709551616"), log_row(1, "1e6"), log_row(1, 1, "-3", end="signal")),
    "control": task_log(log_row(1, 1, command="a\x1b[2Jb\x7f\u00e4"), log_row(2, 2, command="x" * 300)),
    "reasons": task_log(*[log_row(i, i) for i in range(1, 21)]),
}



def exec_line(line, file=""):
    """Words, which blanks separate, and the file that @ names."""
    return "\n".join(["exec", *line.split(" ")]).encode() + b"\0" + file.encode()


EXECS = {
    "words": exec_line("echo ::: A B C"), "file": exec_line("-a @ echo", "a\nb c\n\nd"), "cross": exec_line("echo {1} {2} ::: A B :::: @", "1\n2\n"),
    "linked": exec_line("--link echo ::: A B C :::: @", "1\n2\n"), "plus": exec_line("echo :::: @ :::+ x y", "1\n2\n3\n"), "tabs": exec_line("--colsep \\t echo {2} {1} :::: @", "a\tb\nc\n"),
    "pattern": exec_line("-C [,;] echo :::: @", "a,b;c\n"), "header": exec_line("--header : --colsep , fit {file.} {k} :::: @", "file,k\na.dat,3\nb.dat,4\n"),
    "nul": exec_line("-0 echo :::: @", "a\0b\n\0"), "delimiter": exec_line("-d _ echo :::: @", "a_b__c"), "end": exec_line("-E stop echo ::: a stop b"),
    "many": exec_line("-N3 echo {} {3} ::: A B C D E"), "args": exec_line("-n 2 --trim lr echo :::: @", " a \nb \n c\n"), "empty": exec_line("-r echo :::: @", "\n\na\n"),
    "marks": exec_line("--arg-sep ,, --arg-file-sep ;; echo ,, a b ;; @", "c\n"), "places": exec_line("-I % -q sh -c % {//} {/.} {#} {%} ::: a.b"), "rows": exec_line(":::: @", "echo a | b\n'c\n"),
    "halt": exec_line("--halt now,fail=3 echo ::: a"), "halt-share": exec_line("--halt soon,success=10% echo ::: a"), "halt-old": exec_line("--halt 1 --halt -2 echo ::: a"), "halt-wrong": exec_line("--halt soon,fail echo"),
    "jobs": exec_line("-j 50% -j+1 --jobs=-2 -P 3 echo ::: a"), "times": exec_line("--timeout 1:30 --delay 0.5m --retries 3 echo ::: a"), "needs": exec_line("--cores 2 --memory 2G --gpus 1 --env A=1,2 --workdir x echo ::: a"),
    "resume": exec_line("--joblog l --resume-failed echo ::: a"), "resume-alone": exec_line("--resume echo ::: a"), "live": exec_line("-k --tag --line-buffer --results x --bar echo ::: a"), "absent": exec_line("--pipe wc"),
    "escapes": exec_line("echo ::: a\tb \\. \\#7 \r x"), "nothing": b"", "shell": exec_line("--shell echo {} | cat ::: $x"), "passed": exec_line("--hosts a:2 --technique gss -v --output o echo ::: a"),
}


def earlier(kind, command, log):
    return bytes([kind]) + command.encode() + b"\0" + log


EARLIER = {
    "same": earlier(0, "echo", task_log(*[log_row(i, command=f"echo {i}") for i in range(1, 16)])), "other": earlier(0, "echo x", task_log(log_row(3, command="echo 3"))),
    "control": earlier(0, "echo", task_log(log_row(3, command="\x1b[2Ja\0b"))), "failed": earlier(1, "echo", task_log(log_row(1, 1, command="echo 1"), log_row(2, command="echo 2"), log_row(1, command="echo 1"))), "shell": earlier(2, "a {} | b", task_log(log_row(1, command="a '1' | b"))),
    "parallel": earlier(0, "echo 'a b'", task_log(log_row(2, command="echo a\\ b 2", more=""), heading=LOG_COMMON)), "worker": earlier(0, "echo {%}", task_log(log_row(1))), "number": earlier(0, "echo {#}", task_log(log_row(2, command="echo 2"))),
    "torn": earlier(0, "echo", task_log(log_row(1, command="echo 1"), tail="2\tn1")), "no-row": earlier(0, "echo", task_log("x")), "huge": earlier(0, "echo", task_log(log_row(10**12))), "none": earlier(0, "echo", b"no log\n"),
    "lines": earlier(0, "echo", task_log(log_row(1, command="echo 1\0b", more=""), log_row(2, command="echo 2", more=""), heading=LOG_COMMON)), "empty": earlier(0, "", b""), "fragment": earlier(0, "", b"7 1700000000500 1 4096 12\nabc"), "fragment-stream": earlier(0, "", b"7 1 2 0 1\nx"), "fragment-long": earlier(0, "", b"1 1 0 18446744073709551615 1\n"),
}

DESCRIPTIONS = {
    "records": b"1/k/1/1/0/3/0/0/2/2/3/2/0/0/0/0/0/0/0/0/0/0/0/0//0",
    "steps": b"1/python:mine.run/0a1b2c3d/11/2/12/1/7/1/1/12/0/0/0/0/0/0/255/4/81985529216486895/0/0/0/0//0",
    "tiles": b"1/tiles/1/1/1/4/2/0/4/2/3/4/0/0/2/2/2/0/0/0/0/0/0/0//0",
    "dependent": b"1/rows/2/5/0/9/0/5/1/1/9/0/0/0/0/0/0/0/0/0/100/2/3/8//0",
    "streams": b"1/words/1/18/0/5/4/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/a%20b%2fc.out/3//0//0/.err/1//1/.log/1/one%09two%0a/0",
    "grows": b"1/words/1/98/0/5/20/0/0/0/0/0/0/0/0/0/0/0/0/7/0/0/0/0//1//0//0", "grows-not": b"1/words/1/2/0/5/20/0/0/0/0/0/0/0/0/0/0/0/0/7/0/0/0/0//1//0//0",
    "streams-twice": b"1/words/1/2/0/5/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0//2//0//0//0//0",
    "escapes": b"1/a%2fb%25%7f\xc3\xa4//1/0/3/0/0/2/2/3/2/0/0/0/0/0/0/0/0/0/0/0/0//0",
    "escape-open": b"1/k%2", "escape-nul": b"1/k%00/1", "short": b"1/k/1/1/0/3", "version": b"2/k", "empty": b"",
    "long": b"1/k/1/1/0/3/0/0/2/2/3/2/0/0/0/0/0/0/0/0/0/0/0/0//0/",
    "table": b"1/k/7/1/2/a%20summary/3/how/2/n/0/3/0/4611686018427387904//px/a%20number/how/2/b/0/0/a|b//a%20choice",
    "overflow": b"1/k/1/1/0/18446744073709551616/0/0/2/2/3/2/0/0/0/0/0/0/0/0/0/0/0/0//0",
}



def shared(*blocks, first=0):
    """What a helper has put: blocks of (flags, texts...) for each iteration, each behind its length."""
    data = bytes([first])
    for block in blocks:
        streams = len(block[0]) - 1
        table = b"".join(struct.pack("<I", entry[0]) + b"".join(struct.pack("<I", len(text)) for text in entry[1:]) for entry in block)
        whole = struct.pack("<II", len(block), streams) + table + b"".join(entry[1 + s] for s in range(streams) for entry in block)
        data += struct.pack("<Q", len(whole)) + whole + bytes(-len(whole) % 8)
    return data


BLOCKS = {
    "one": shared([(0, b"abc"), (0, b""), (0, b"de")]), "two": shared([(0, b"abc")], [(0, b"de"), (0, b"f" * 20)]), "nothing": b"\0",
    "three-streams": shared([(0, b"a", b"bc", b""), (0, b"d", b"", b"ef")], first=2), "failed": shared([(0, b"a"), (1, b"no")]),
    "failed-kept": shared([(1, b"no", b"why"), (0, b"b", b"")], first=5), "streams": shared([(0, b"a", b"b")]),
    "many": shared([(0, b"x")] * 60, [(0, b"y")] * 40), "beyond": shared([(0, b"x")] * 101), "flags": shared([(2, b"a")]),
    "cut": shared([(0, b"abc")])[:-9], "no-length": b"\0" + b"\x20\0\0", "long": b"\0" + struct.pack("<Q", 2**64 - 1) + bytes(16),
}

HALF = (b'{"id":1,"name":null,"kernel":"mandelbrot","command":["mandelbrot","width=9"],"folder":"/home/me/pictures","state":"running","done":5000,"total":10000,'
        b'"failed":2,"rate_per_s":1234.5,"elapsed_s":4.5,"eta_s":4.05,"workers":8,"busy":7,"lost":1,"technique":"fac2","topology":"central","output":"a.png","status":null}')
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
JOBS = {
    "ranks": b"\x50" + OK + b'{"session":{"ranks":{"workers":3},"jobs":{"waiting":1,"running":2}},"job":' + HALF + b',"ranks":[{"rank":1,"role":"master","state":"serving","host":"n\\u00e9","done":7,"workers":2,"busy":1},'
             b'{"rank":2,"role":"worker","state":"lost","node":0,"master":1,"done":null},{"rank":3,"role":"worker","state":"computing","node":1,"master":null,"done":5,"chunks":2,"compute_s":1.5,"load":1.25,"chunk":{"first":7,"count":5,"left":3,"since_s":0.5}}],"next":null}',
    "set": b"\x50" + OK + b'{"jobs":[{"id":7,"name":"first\\u0007","kernel":"k","state":"waiting","priority":-3,"weight":2,"after":[1,null],"submitted":"2026"}],"next":9}',
    "text": b"\x50HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\ncontent-length: 5\r\n\r\nhello", "endless": b"\x50HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
    "one": b"\x50" + OK + HALF, "list": b"\x28" + OK + b'{"session":{"name":"run-1"},"jobs":[' + HALF + b"]}", "narrow": b"\x01" + OK + HALF,
    "open": b"\x50" + OK + b'{"state":"running","done":3,"total":null}', "over": b"\x50" + OK + b'{"kernel":"k","state":"failed","done":1e300,"total":-1,"status":3}',
    "control": b"\x50" + OK + b'{"kernel":"\\u001b[2J\\u009b","state":"\\u0000x","folder":"/\\n"}', "long": b"\x50" + OK + b'{"state":"x","folder":"/' + "\u00e4".encode() * 300 + b'"}',
    "error": b"\x50HTTP/1.1 409 Conflict\r\n\r\n" + b'{"error":"no \\u001b"}', "no-error": b"\x50HTTP/1.1 500 x\r\n\r\n{}", "page": b"\x50HTTP/1.1 400 Bad Request\r\n\r\n<HTML>",
    "empty": b"\x50", "no-end": b"\x50HTTP/1.1 200 OK\r\n", "status": b"\x50HTTP/1.1 2 0 OK\r\n\r\n{}", "array": b"\x50" + OK + b"[]",
}
ROUTES = {
    "session": b"/v1", "jobs": b"/v1/jobs", "job": b"/v1/jobs/1", "largest": b"/v1/jobs/9223372036854775807", "too-large": b"/v1/jobs/9223372036854775808",
    "wait": b"/v1/jobs/17?wait=30", "too-long": b"/v1/jobs/1?wait=31", "empty": b"", "root": b"/", "version": b"/v2/jobs", "query": b"/v1?a=b", "no-id": b"/v1/jobs/",
    "word": b"/v1/jobs/x", "behind": b"/v1/jobs/1/events", "whole": b"http://hdss/v1", "end": b"/v1/end", "events": b"/v1/events", "pods": b"/v1/pods", "pod": b"/v1/pods/5?finish=1", "pod-word": b"/v1/pods/x", "events-query": b"/v1/events?from=1", "output": b"/v1/jobs/3/output", "stream": b"/v1/jobs/3/output?stream=err&from=100",
    "twice": b"/v1/jobs/3/output?from=1&from=1", "from": b"/v1/jobs?from=10001", "other-stream": b"/v1/jobs/3/output?stream=in",
    "metrics": b"/metrics",
    "failures": b"/v1/jobs/3/failures?from=12&wait=30", "failures-limit": b"/v1/jobs/3/failures?limit=1", "ranks": b"/v1/jobs/3/ranks?from=1000&limit=1000", "running": b"/v1/jobs?state=running&limit=64", "over": b"/v1/jobs?state=over&from=3", "no-limit": b"/v1/jobs?limit=0", "items": b"/v1/jobs/3/items", "items-of-none": b"/v1/jobs/items", "items-query": b"/v1/jobs/3/items?from=1", "only-items": b"/v1/jobs//items",
}
SUBMISSIONS = {
    "least": b'{"words":["k"],"folder":"/"}', "empty": b"{}", "array": b"[]", "text": b'"k"', "cut": b'{"words":["k"],"folder":"/',
    "all": b'{"words":["synthetic","iterations=9","-N"],"folder":"/home/me","umask":18,"environment":["A=b","C="],"name":"n","priority":-1000,"weight":1000,"after":[1,4294967295]}',
    "null": b'{"words":["k"],"folder":"/","name":null}', "nul": b'{"words":["k\\u0000"],"folder":"/"}', "field": b'{"words":["k"],"folder":"/","x\\n":1}',
    "numbers": b'{"words":["k"],"folder":"/","umask":-1,"weight":1e3,"priority":1001,"after":[0,4294967296]}', "environment": b'{"words":["k"],"folder":"/","environment":["A","=b"]}',
    "twice": b'{"words":["k"],"words":["k"],"folder":"/"}', "bytes": b'{"words":["\xff"],"folder":"/"}', "after": b'{"words":["k"],"folder":"/","after":"3"}',
    "open": b'{"words":["exec"],"folder":"/","open":true}', "half-open": b'{"words":["exec"],"folder":"/","open":1}',
    "attached": b'{"words":["exec"],"folder":"/","open":true,"attached":true}', "half-attached": b'{"words":["exec"],"folder":"/","attached":0}',
    "several": b'[{"words":["k"],"folder":"/"},{"words":[],"folder":"/"},7,{"words":["k"],"folder":"x"}]', "nothing": b"",
}
# A byte for what follows: 0 an address, 1 a Host, 2 an Authorization.
HTTP = {
    "port": b"\0" + b"8080", "any": b"\0" + b"localhost:0", "colon": b"\0" + b":80", "ipv6": b"\0" + b"[::1]:65535", "open": b"\0" + b"[::1:80", "name": b"\0" + b"node-7.example:1",
    "too-large": b"\0" + b":65536", "two": b"\0" + b"::1:80", "dash": b"\0" + b"-x:1", "signed": b"\0" + b":+1", "power": b"\0" + b"1e3", "long": b"\0" + b"a" * 300 + b":1",
    "host": b"\1" + b"LOCALHOST:1", "host-given": b"\1" + b"night", "host-ipv6": b"\1" + b"[::1]:80", "host-other": b"\1" + b"localhost.example", "host-bare": b"\1" + b"::1", "host-behind": b"\1" + b"127.0.0.1:80/x",
    "token": b"\2" + b"Bearer " + b"0123456789abcdef" * 4, "token-case": b"\2" + b"bearer " + b"0123456789ABCDEF" * 4, "token-short": b"\2" + b"Bearer 0123456789abcdef", "token-basic": b"\2" + b"Basic eDp5",
    "token-long": b"\2" + b"Bearer " + b"0123456789abcdef" * 5, "empty": b"\2",
}
ITEMS = {
    "rows": b'{"rows":["a",["b","c"],""],"end":true}', "escapes": b'{"rows":["\\t\\n\\r\\\\.",["\\\\","\\\\#1\\t"]]}', "none": b"{}", "empty": b'{"rows":[],"end":false}',
    "iterations": b'{"iterations":1000000000000,"end":true}', "too-many": b'{"iterations":1000000000001}', "both": b'{"rows":[],"iterations":0}', "array": b"[]",
    "no-field": b'{"rows":["a",[]]}', "number": b'{"rows":["a",1]}', "nested": b'{"rows":[["a",["b"]]]}', "text": b'{"rows":"a"}', "end": b'{"end":1}', "unknown": b'{"x\\n":1}',
    "utf-8": '{"rows":["\u00e4\u20ac\U0001f600"]}'.encode(), "bytes": b'{"rows":["\xff"]}', "many-fields": b'{"rows":[[' + b'"",' * 4096 + b'""]]}',
}

TARGETS = {
    "message": MESSAGES, "announcement": ANNOUNCEMENTS, "frame": FRAMES, "lineup": LINEUPS, "technique": LOOPS, "options": words(COMMANDS) | FOUND, "chunks": words(CHUNKS), "power": POWERS, "availability": AVAILABILITIES,
    "description": DESCRIPTIONS, "blocks": BLOCKS,
    "costs": COSTS, "hosts": HOSTS, "route": ROUTES, "submission": SUBMISSIONS, "items": ITEMS, "http": HTTP, "jobs": JOBS, "nodes": NODES, "banner": MPIRUN, "vigil": STATUS, "results": RESULTS, "journal": JOURNALS, "machines": LIVES,
    "parts": PARTS, "tasks": TASKS, "list": LISTS, "task_log": TASK_LOGS, "image": IMAGES, "off": OFF, "obj": OBJ, "ply": PLY,
    "exec": EXECS, "earlier": EARLIER, "simulated": SIMULATED, "platform": PLATFORMS,
}

# For libFuzzer and AFL++: words to put in.
DICTIONARY = sorted(set(NAMES) | set(re.findall(r"[a-z][a-z-]+=?|--[a-z-]+",
" ".join([*COMMANDS.values(), *CHUNKS.values(), *SPECS.values()]))))
DICTIONARIES = {target: [word for word in DICTIONARY if len(word) < 30] + ["2^63", "1e6", "measure", "\\x0a",
"0:1"] for target in ("technique", "options", "chunks")}


def everything():
    """(path, bytes) of each file."""
    for target, inputs in TARGETS.items():
        for name, data in inputs.items():
            yield os.path.join(HERE, "corpus", target, "seed-" + name), data
    for target, listed in DICTIONARIES.items():
        yield os.path.join(HERE, "dictionary", target), "".join(f'"{word}"\n' for word in listed).encode()


def read(path):
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def main(arguments):
    if arguments == ["--check"]:
        if set(SHARES) != set(TARGETS):
            return f"run.py has other targets than seeds.py: {', '.join(sorted(set(SHARES) ^ set(TARGETS)))}"
        old = [path for path, data in everything() if read(path) != data]
        return f"{len(old)} seeds are not as seeds.py writes them, {old[0]} for one: run it" if old else 0
    if arguments:
        return __doc__
    for path, data in everything():
        write(path, data)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
