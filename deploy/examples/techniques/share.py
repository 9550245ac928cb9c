# SPDX-License-Identifier: MIT
"""A technique in Python, with two parameters: each chunk is a share of what remains.

    hdss chunks python:share.Share:share=0.2 --iterations 1000 --workers 4
    hdss run --technique python:share.Share:share=0.2 mandelbrot
"""


class Share:
    """A share of what remains."""
    rule = 'K = max(least, floor(share R))'

    def __init__(self, loop, share=0.1, least=1):
        if not 0 <= share <= 1:
            raise ValueError(f'share={share} is not accepted: a number from 0 to 1')
        self.share, self.least = share, max(least, loop.min_chunk)

    def next(self, request):
        return max(self.least, int(self.share * request.remaining))
