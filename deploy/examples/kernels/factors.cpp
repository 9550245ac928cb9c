// SPDX-License-Identifier: MIT
// A kernel in C++, with variable output: a line of text for each iteration, the prime factors of a number. The numbers
// that are prime are also told on a second stream, and one that the user forbids counts as failed.
//
//     c++ -O2 -shared -fPIC $(pkg-config --cflags hdss-kernel) factors.cpp -o factors.so
//     hdss run ./factors.so first=1000 count=1000 --output factors.txt
#include <hdss/kernel.h>

#include <cstdio>
#include <exception>
#include <string>

namespace
{

enum { FIRST, COUNT, FORBIDDEN };

const hdss_param params[] = {
    {"first", HDSS_PARAM_INTEGER, "2", 2, 1e15, nullptr, "", "the number to begin with"},
    {"count", HDSS_PARAM_INTEGER, "1000", 1, 1e12, nullptr, "numbers", "how many numbers"},
    {"forbidden", HDSS_PARAM_INTEGER, "0", 0, 1e15, nullptr, "", "multiples of this number count as failed; 0: none"},
    {nullptr, HDSS_PARAM_INTEGER, nullptr, 0, 0, nullptr, nullptr, nullptr},
};

int describe(const hdss_value *values, hdss_loop *loop, char *)
{
    loop->iterations = static_cast<uint64_t>(values[COUNT].integer);
    loop->streams = 2;
    loop->stream[0].ending = "";
    loop->stream[1].ending = ".primes";
    loop->stream[1].heading = "# primes\n";
    return 0;
}

// What the kernel keeps between its calls.
struct Factors {
    uint64_t first, forbidden;

    std::string line(uint64_t n, bool &prime) const
    {
        std::string text = std::to_string(n) + " =", times = " ";
        uint64_t rest = n;
        for (uint64_t p = 2; p <= rest / p; p += p == 2 ? 1 : 2)
            for (; rest % p == 0; rest /= p, times = " * ")
                text += times + std::to_string(p);
        prime = rest == n;
        return rest > 1 ? text + times + std::to_string(rest) : text;
    }

    int run(uint64_t from, uint64_t count, hdss_output *output) const
    {
        for (uint64_t i = from; i < from + count; i++) {
            bool prime = false;
            const std::string text = line(first + i, prime) + "\n", number = std::to_string(first + i) + "\n";
            if (output->put(output, i, 0, text.data(), text.size()) < 0 ||
                (prime && output->put(output, i, 1, number.data(), number.size()) < 0) ||
                (forbidden > 0 && (first + i) % forbidden == 0 && output->failed(output, i) < 0))
                return -1;
        }
        return 0;
    }
};

int open_kernel(const hdss_value *values, const hdss_loop *, const hdss_worker *, void **instance, char *)
{
    *instance =
        new Factors{static_cast<uint64_t>(values[FIRST].integer), static_cast<uint64_t>(values[FORBIDDEN].integer)};
    return 0;
}

// No exception may leave the kernel: what calls it is C.
int run(void *instance, uint64_t first, uint64_t count, hdss_output *output, char *error)
{
    try {
        return static_cast<const Factors *>(instance)->run(first, count, output);
    } catch (const std::exception &exception) {
        std::snprintf(error, HDSS_ERROR_MAX, "%s", exception.what());
        return -1;
    }
}

void close_kernel(void *instance)
{
    delete static_cast<Factors *>(instance);
}

} // namespace

HDSS_KERNEL(hdss_kernel) = {
    HDSS_KERNEL_ABI, "factors", "1",     "the prime factors of each number, as text",
    params,          describe,  nullptr, open_kernel,
    nullptr,         run,       nullptr, close_kernel,
    nullptr,         nullptr,
};
