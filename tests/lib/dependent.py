# SPDX-License-Identifier: MIT
"""Results of the kernels whose iterations depend on one another, by other code than the programs'."""
import struct

DITHER, HYDRO = 'floyd-steinberg', 'hydro'


def dithered(levels):
    """Rows of 0 and 1; errors are pushed to the pixels that come later."""
    height, width = len(levels), len(levels[0])
    owed = [[0] * (width + 2) for _ in range(height + 1)]
    result = []
    for y, row in enumerate(levels):
        out = bytearray()
        for x, level in enumerate(row):
            value = level + (owed[y][x + 1] + 8) // 16
            white = value >= 128
            error = value - 255 * white
            out.append(white)
            owed[y][x + 2] += 7 * error * (x + 1 < width)
            owed[y + 1][x] += 3 * error * (x > 0)
            owed[y + 1][x + 1] += 5 * error
            owed[y + 1][x + 2] += error * (x + 1 < width)
        result.append(bytes(out))
    return result


def generated(width, height):
    ramp = [255 * x // (width - 1) if width > 1 else 128 for x in range(width)]
    scale = width * width + height * height

    def level(x, y):
        if y < height // 8:
            return ramp[x]
        phase = ((2 * x + 1 - width) ** 2 * 2048 // scale + (2 * y + 1 - height) ** 2 * 2048 // scale) % 512
        return (ramp[x] + min(phase, 511 - phase)) // 2
    return [[level(x, y) for x in range(width)] for y in range(height)]


def hydro(sweeps, columns):
    def element(array, j, k):
        bits = (((array * 6 + j) << 32) + k + 1) * 0x9e3779b97f4a7c15 % 2 ** 64 >> 40
        return bits / 2 ** 24 if array == 0 else (bits / 2 ** 24 + 1) / 8
    plane = [[element(0, j, k) for k in range(columns + 2)] for j in range(6)]
    zr, zb, zu, zv, zz = ([[element(array, j, k) for k in range(columns + 2)] for j in range(6)] for array in range(1, 6))
    result = b''
    for _ in range(sweeps):
        before, plane = plane, [list(row) for row in plane]
        for j in range(1, 5):
            for k in range(1, columns + 1):
                qa = (before[j + 1][k] * zr[j][k] + plane[j - 1][k] * zb[j][k] + before[j][k + 1] * zu[j][k] + plane[j][k - 1] * zv[j][k]
                      + zz[j][k])
                plane[j][k] = before[j][k] + 0.175 * (qa - before[j][k])
            result += struct.pack(f'<{columns}d', *plane[j][1:columns + 1])
    return result


def swinging(points, moments, speed=0.5):
    earlier = later = [2.0 * (min(x, points - 1 - x) + 1) / (points + 1) for x in range(points)]
    result = b''
    for _ in range(moments):
        rim = [0.0, *later, 0.0]
        earlier, later = later, [2 * here - earlier[x] + speed * speed * (rim[x] - 2 * here + rim[x + 2]) for x, here in enumerate(later)]
        result += struct.pack(f'<{points}d', *later)
    return result
