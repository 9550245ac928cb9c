# SPDX-License-Identifier: MIT
"""hdss explain: what a trace tells of an iteration, a worker, a chunk and a scheduling step."""
import io
import os
import sys

sys.path.insert(0, os.path.join(os.environ['SOURCE_ROOT'], 'deploy', 'python'))
# pylint: disable=wrong-import-position
from hdss._command import Refusal
from hdss._explain import Story
from hdss._trace import Trace
from launch import main
from traces import SAMPLE

# The sample, gone on from a run that had done what nobody is given here.
RESUMED = 'resumed,,,,,,50,10,resumed,,,,,,done,,\nresumed,,,,,,100,7,,,,,,,,,\n'
STORY = Story(Trace(io.BytesIO((SAMPLE + RESUMED).encode()), 't.csv'))


def test_an_iteration_of_an_earlier_run():
    told = STORY.of_iteration(106)
    assert 'iterations 100 to 106 (7)\n' in told and 'done, and stored, by an earlier run: this run went on from its journal\n' in told and 'worker' not in told, told
    told = STORY.of_iteration(59)  # which this run computed again
    assert 'iterations 50 to 59 (10)\n' in told and 'worker 3 on node 1 (here), chunk 1: iterations 30 to 59 (30)\n' in told, told
    assert 'an earlier run' not in STORY.of_iteration(0)


def test_a_chunk_that_was_lost():
    assert STORY.of_chunk(3, 2) == '''\
Chunk 2 of worker 3 of adjoint, by gss

worker 3 on node 1 (here), chunk 2: iterations 60 to 79 (20)
        3.400000 s  asked
        4.000000 s  given by master 2, 600 ms later: from the pool: it was cut for another worker, and nothing there was for this one
        4.250000 s  begun, 250 ms later
               ?    ended
               ?    lost with the worker
'''


def test_a_worker():
    assert STORY.of_worker(3) == '''\
Worker 3 on node 1 (here) of adjoint, by gss
  virtual power 2.5
  30 iterations done in 2 chunks; 20 lost, failed, dropped or undone
  in the kernel for 2.00 s of the 2.50 s from its first chunk to the end of its last
  lost at 5.000000 s

     given (s)   chunk          first      count  why           kernel  became
      1.000000       1             30         30  own           2.00 s  done
      4.000000       2             60         20  other              -  lost
'''


def test_what_is_not_there_is_refused():
    for ask, said in ((lambda: STORY.of_iteration(107), 'nobody was given iteration 107; the loop has 100, counted from 0'),
                      (lambda: STORY.of_worker(9), 'there is no worker of rank 9; the first has 4, and there are 3'),
                      (lambda: STORY.of_chunk(4, 3), 'worker 4 has no chunk 3; `hdss explain --worker 4 TRACE` lists those that it has'),
                      (lambda: STORY.of_step(3), 'there is no scheduling step 3; accepted: 1 to 2')):
        try:
            ask()
        except Refusal as refusal:
            assert str(refusal) == said, refusal
        else:
            raise AssertionError(said)


if __name__ == '__main__':
    main([value for name, value in list(globals().items()) if name.startswith('test_')])
