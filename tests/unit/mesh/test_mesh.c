/* SPDX-License-Identifier: MIT */
/* The readers of meshes: the same solid out of every format, what each format has of its own, and each way in which a
 * file can be wrong, with its line. */
#include "common/util/error.h"
#include "deploy/examples/kernels/papers/mesh/mesh.h"
#include "tests/lib/suite.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct error error;
static struct mesh mesh;

static int parse_bytes(const char *name, const char *bytes, size_t size)
{
    enum mesh_kind kind;
    char *copy = calloc(1, size + (size == 0)); /* so that a sanitizer sees a step beyond */
    memcpy(copy, bytes, size);
    error.text[0] = '\0';
    int status = mesh_kind_of(&kind, name, copy, size, &error);
    if (status == 0)
        status = mesh_parse(&mesh, kind, copy, size, &error);
    free(copy);
    return status;
}

static int parse(const char *name, const char *text)
{
    return parse_bytes(name, text, strlen(text));
}

#define READS(name, words) ck_assert_msg(parse(name, words) == 0, "%s", error.text)

#define REFUSES(name, words, line)                                                                                     \
    do {                                                                                                               \
        ck_assert_int_eq(parse(name, words), -1);                                                                      \
        ck_assert_str_eq(error.text, line);                                                                            \
    } while (0)

static void check_vector(const double vector[3], double x, double y, double z)
{
    ck_assert_double_eq_tol(vector[0], x, 1e-12);
    ck_assert_double_eq_tol(vector[1], y, 1e-12);
    ck_assert_double_eq_tol(vector[2], z, 1e-12);
}

/* The corner of a box 1 x 2 x 4: three right triangles at the origin. Their areas are 1 (across z), 4 (across x) and 2
 * (across y), so the normal at the origin is (-4, -2, -1) / sqrt(21); each other point lies on two of them. */
static void check_corner(void)
{
    ck_assert_uint_eq(mesh.points, 4);
    check_vector(mesh.position[0], 0, 0, 0);
    check_vector(mesh.position[3], 0, 0, 4);
    check_vector(mesh.normal[0], -4 / sqrt(21), -2 / sqrt(21), -1 / sqrt(21));
    check_vector(mesh.normal[1], 0, -2 / sqrt(5), -1 / sqrt(5));
    check_vector(mesh.normal[2], -4 / sqrt(17), 0, -1 / sqrt(17));
    check_vector(mesh.normal[3], -4 / sqrt(20), -2 / sqrt(20), 0);
    mesh_fini(&mesh);
}

static const char ply_header[] =
    "ply\nformat %s 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\nproperty "
    "double y\nproperty uchar red\nproperty float32 z\nelement face 3\nproperty list "
    "uchar int vertex_indices\nend_header\n";

/* Appends the lowest bytes of a word in the order. */
static char *put(char *at, uint64_t word, size_t bytes, bool is_big)
{
    for (size_t i = 0; i < bytes; i++)
        *at++ = (char)(word >> 8 * (is_big ? bytes - 1 - i : i));
    return at;
}

static char *put_float(char *at, float number, bool is_big)
{
    uint32_t word;
    memcpy(&word, &number, sizeof word);
    return put(at, word, sizeof word, is_big);
}

static char *put_double(char *at, double number, bool is_big)
{
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    return put(at, word, sizeof word, is_big);
}

enum { PLY_ROOM = 600 };

/* The corner, in binary, with `z` for the last point and `last` for the last index. */
static size_t binary_ply(char bytes[PLY_ROOM], bool is_big, float z, int last)
{
    static const int faces[3][3] = {{0, 2, 1}, {0, 3, 2}, {0, 1, 3}};
    static const float points[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 4}};
    char *at = bytes + snprintf(bytes, PLY_ROOM, ply_header, is_big ? "binary_big_endian" : "binary_little_endian");
    for (int i = 0; i < 4; i++) {
        at = put_float(at, points[i][0], is_big);
        at = put_double(at, (double)points[i][1], is_big);
        *at++ = (char)200;
        at = put_float(at, i == 3 ? z : points[i][2], is_big);
    }
    for (int f = 0; f < 3; f++) {
        *at++ = 3;
        for (int c = 0; c < 3; c++)
            at = put(at, (uint64_t)(f == 2 && c == 2 ? last : faces[f][c]), 4, is_big);
    }
    return (size_t)(at - bytes);
}

START_TEST(every_format_gives_the_same)
{
    char text[PLY_ROOM];
    READS("a.off", "OFF\n4 3 0\n0 0 0\n1 0 0\n0 2 0\n0 0 4\n3 0 2 1\n3 0 3 2\n3 0 1 3");
    check_corner();
    READS("a.OFF", "# no keyword\n4 3 0\n0 0 0\n1 0 0\n0 2 0\n0 0 4\n3 0 2 1\n3 0 3 2\n3 0 1 3");
    check_corner();
    READS("a",
          "# c\nCOFF 4 3 6 # counts\n\n0 0 0 255 0 0 255\n1e0 0 0 0 0 0 0 # x\n0 2 0\n0 0 +4.0 \r\n 3 0 2 1 0.5 0.5\n"
          "\n3 0 3 2\n3 0 1 3 9\n\n");
    check_corner();
    READS("a.obj",
          "# box\nmtllib x.mtl\nv 0 0 0\nv 1 0 0 1.0\nvt 0 1\nv 0 2 0\nv 0 0\\\n \\\r\n4\nf 1 3 2\nf 1/1 4/1 3/1\n"
          "f -4 -3 -1\n");
    check_corner();
    READS("a.OBJ", "f 1 3 2\nf 1 4 3\nf 1 2 4\nv 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 4");
    check_corner();
    snprintf(text, sizeof text, ply_header, "ascii");
    READS("a.ply", strcat(text, "0 0 9 0\n1 0 9 0\n0 2 9 0\n0 0 9 4\n3 0 2 1\n3 0 3 2\n3 0 1 3"));
    check_corner();
    for (int is_big = 0; is_big < 2; is_big++) {
        size_t size = binary_ply(text, is_big, 4, 3);
        ck_assert_msg(parse_bytes("a.ply", text, size) == 0, "%s", error.text);
        check_corner();
    }
}
END_TEST

START_TEST(given_normals_count_and_are_made_one_long)
{
    static const char *const texts[][2] = {
        {"a.off", "NOFF\n2 0 0\n0 0 0 0 0 5\n1 1 1 3 0 -4\n"},
        {"a.obj", "v 0 0 0\nvn 0 0 5\nv 1 1 1\nvn 3 0 -4\n"},
        {"a.ply", "ply\nformat ascii 1.0\nelement vertex 2\nproperty float nx\nproperty float ny\nproperty float nz\n"
                  "property float x\nproperty float y\nproperty float z\nend_header\n0 0 5 0 0 0 3 0 -4 1 1 1\n"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        READS(texts[i][0], texts[i][1]);
        ck_assert_uint_eq(mesh.points, 2);
        check_vector(mesh.position[1], 1, 1, 1);
        check_vector(mesh.normal[0], 0, 0, 1);
        check_vector(mesh.normal[1], 0.6, 0, -0.8);
        mesh_fini(&mesh);
    }
}
END_TEST

START_TEST(corners_name_their_normals_in_obj)
{
    READS("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvn 2 0 0\nvn 0 2 0\nf 1//1 2//2 3//-1\nf 1//2 2/7/2 4\n");
    check_vector(mesh.normal[0], sqrt(0.5), sqrt(0.5), 0); /* of both, summed */
    check_vector(mesh.normal[1], 0, 1, 0);
    check_vector(mesh.normal[3], 0, 0, 1); /* of its face */
    mesh_fini(&mesh);
}
END_TEST

START_TEST(points_without_a_normal_are_left_out)
{
    READS("a.off", "OFF\n6 2 0\n9 9 9\n0 0 0\n1 0 0\n0 1 0\n5 5 5\n6 6 6\n3 1 2 3\n2 4 5\n");
    ck_assert_uint_eq(mesh.points, 3);
    check_vector(mesh.position[0], 0, 0, 0);
    check_vector(mesh.normal[2], 0, 0, 1);
    mesh_fini(&mesh);
}
END_TEST

START_TEST(polygons_are_weighted_by_their_area)
{
    READS("a.off", "OFF\n6 2 0\n0 0 0\n3 0 0\n3 2 0\n0 2 0\n0 0 1\n3 0 1\n4 0 1 2 3\n4 0 4 5 1\n");
    check_vector(mesh.normal[0], 0, 1 / sqrt(5), 2 / sqrt(5));
    mesh_fini(&mesh);
}
END_TEST

START_TEST(other_elements_of_ply_are_skipped)
{
    READS("a.ply", "ply\r\nformat ascii 1.0\r\nobj_info x\r\nelement camera 1\r\nproperty list uint float view\r\n"
                   "property int id\r\nelement vertex 3\r\nproperty float x\r\nproperty float y\r\nproperty float z\r\n"
                   "property list char double tags\r\nelement face 1\r\nproperty uchar red\r\n"
                   "property list uchar uint vertex_index\r\nproperty list uchar float texcoord\r\nend_header\r\n"
                   "2 0.5 nan 7\r\n0 0 0 0\r\n1 0 0 1 9\r\n0 1 0 0\r\n255 3 0 1 2 2 0.5 0.5\r\n");
    ck_assert_uint_eq(mesh.points, 3);
    check_vector(mesh.normal[1], 0, 0, 1);
    mesh_fini(&mesh);
}
END_TEST

START_TEST(unknown_kinds)
{
    static const char line[] =
        "line 1: neither OFF nor ply, and the name does not end in .obj; accepted: OFF, PLY, OBJ";
    REFUSES("a.stl", "solid\n", line);
    REFUSES("a", "", line);
    REFUSES("a.d/obj", "v 0 0 0\n", line);
    REFUSES("a.off", "", "line 1: the file is empty; accepted: OFF, COFF, NOFF, ..");
    REFUSES("a.off", "v 0 0 0", "line 1: 'v': accepted: OFF, COFF, NOFF, CNOFF or STOFF, of three dimensions");
    REFUSES("a.off", "\n4OFF\n1 0 0\n",
            "line 2: '4OFF': accepted: OFF, COFF, NOFF, CNOFF or STOFF, of three dimensions");
    REFUSES("a.ply", "plx\n", "line 1: accepted: ply");
    REFUSES("a.off", "OFF BINARY\n", "line 1: binary OFF; accepted: OFF as text, or PLY");
    REFUSES("a.obj", "v 0 0 0\nfoo\x1b\n", "line 2: 'foo?': accepted: v, vn, f and the other statements of OBJ");
}
END_TEST

START_TEST(wrong_off)
{
    REFUSES("a", "OFF\n", "line 1: the file ends before it says how many vertices there are");
    REFUSES("a", "OFF\n1  # of them\n", "line 2: the file ends before it says how many faces there are");
    REFUSES("a", "OFF\n0 0 0\n", "line 2: 0 vertices; accepted: at least one");
    REFUSES("a", "OFF\n-1 0 0\n", "line 2: '-1': accepted: how many vertices there are");
    REFUSES("a", "OFF\n18446744073709551616 0 0\n",
            "line 2: '18446744073709551616': accepted: how many vertices there are");
    REFUSES("a", "OFF\n1000000000000 0 0\n0 0 0\n",
            "line 2: 1000000000000 vertices do not fit the 11 bytes that follow");
    REFUSES("a", "OFF\n1 1e15 0\n0 0 0\n", "line 2: 1000000000000000 faces do not fit the 9 bytes that follow");
    REFUSES("a", "OFF\n2 0 0 # much of nothing\n0 0 0\n", "line 3: the file ends before vertex 2 of 2");
    REFUSES("a", "OFF\n2 0 0\n0 0 0\n0 1\n", "line 4: a vertex has three numbers, there are 2");
    REFUSES("a", "OFF\n2 0 0\n0 0 0\n0", "line 4: a vertex has three numbers, there is 1, and the file ends");
    REFUSES("a", "NOFF\n1 0 0\n0 0 0 1\n\n\n", "line 3: a normal has three numbers, there is 1");
    REFUSES("a", "OFF\n1 0 0\n0 nan 0\n", "line 3: 'nan': accepted: a number from -1e+12 to 1e+12");
    REFUSES("a", "OFF\n1 0 0\n0 1e13 0\n", "line 3: '1e13': accepted: a number from -1e+12 to 1e+12");
    REFUSES("a", "OFF\n1 0 0\n0 -inf 0\n", "line 3: '-inf': accepted: a number from -1e+12 to 1e+12");
    REFUSES("a", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "line 6: vertex '3': accepted: 0 to 2");
    REFUSES("a", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", "line 6: vertex '-1': accepted: 0 to 2");
    REFUSES("a", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1    \n", "line 6: a face of 3 corners has 2");
    REFUSES("a", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n2 0 ", "line 6: 2 corners do not fit the 3 bytes that follow");
}
END_TEST

START_TEST(wrong_obj)
{
    REFUSES("a.obj", "", "there are no points; accepted: at least one");
    REFUSES("a.obj", "v 1 2\n", "line 1: a vertex has three numbers, there are 2");
    REFUSES("a.obj", "v 1 2 3\nvn 1 x 3\n", "line 2: 'x': accepted: a number from -1e+12 to 1e+12");
    REFUSES("a.obj", "v 0 0 0\nf 1 1 2\n", "line 2: vertex '2': accepted: 1 to 1, or back from here -1 to -1");
    REFUSES("a.obj", "v 0 0 0\nf 1 1 0\n", "line 2: vertex '0': accepted: 1 to 1, or back from here -1 to -1");
    REFUSES("a.obj", "v 0 0 0\nf -1 -2 1\nv 0 0 0\n",
            "line 2: vertex '-2': accepted: 1 to 2, or back from here -1 to -1");
    REFUSES("a.obj", "v 0 0 0\nvn 0 0 1\nf 1//2 1 1\n",
            "line 3: normal '2': accepted: 1 to 1, or back from here -1 to -1");
    REFUSES("a.obj", "v 0 0 0\nf 1 1", "line 2: a face has at least three corners, there are 2, and the file ends");
    REFUSES("a.obj", "v 0 0 0\nf\n\n", "line 2: a face has at least three corners, there are 0");
}
END_TEST

#define PLY(format)  "ply\nformat " format " 1.0\n"
#define XYZ          "property float x\nproperty float y\nproperty float z\n"
#define ONE          "element vertex 1\n" XYZ
#define FACES(count) "element face " #count "\nproperty list uchar int vertex_indices\n"

START_TEST(wrong_ply_headers)
{
    static const char *const cases[][2] = {
        {"ply\n", "line 1: accepted: format ascii 1.0, or binary_little_endian or binary_big_endian"},
        {"ply\nformat ascii 2.0\n",
         "line 2: format 'ascii 2.0': accepted: ascii, binary_little_endian or binary_big_endian, 1.0"},
        {PLY("ascii") ONE, "line 6: the file ends before end_header"},
        {PLY("ascii") "element vertex\n", "line 3: how many there are of the element is missing"},
        {PLY("ascii") "element vertex x\n", "line 3: 'x': accepted: how many items there are"},
        {PLY("ascii") "property float x\n", "line 3: a property before the first element"},
        {PLY("ascii") "element vertex 1\nproperty real x\n",
         "line 4: type 'real': accepted: char, uchar, short, ushort, int, uint, float or double, or int8 to float64"},
        {PLY("ascii") "element vertex 1\nproperty float\n", "line 4: the property's name is missing"},
        {PLY("ascii") "element vertex 1\nproperty list float int a\n",
         "line 4: list 'a': its length has no type of whole numbers"},
        {PLY("ascii") "element vertex 1\nproperty list int float x\n",
         "line 4: property 'x': accepted: a single number"},
        {PLY("ascii") "element face 1\nproperty int vertex_index\n",
         "line 4: property 'vertex_index': accepted: a list"},
        {PLY("ascii") "element face 1\nproperty list uchar float vertex_index\n",
         "line 4: list 'vertex_index' has no type of whole numbers"},
        {PLY("ascii") "hello\n", "line 3: 'hello': accepted: element, property, comment, obj_info or end_header"},
        {PLY("ascii") "end_header\n", "line 3: there is no element vertex"},
        {PLY("ascii") FACES(0) ONE "end_header\n", "line 3: accepted: one element vertex, and then faces"},
        {PLY("ascii") ONE ONE "end_header\n0 0 0 0 0 0\n", "line 7: accepted: one element vertex, and then faces"},
        {PLY("ascii") "element vertex 1\nproperty float x\nend_header\n0\n",
         "line 3: the vertices lack some of the properties x, y and z"},
        {PLY("ascii") ONE "property float nx\nend_header\n0 0 0 0\n",
         "line 3: the vertices have some of the properties nx, ny and nz; accepted: all or none"},
        {PLY("ascii") ONE "property int z\nend_header\n0 0 0 0\n", "line 3: element 'vertex' has a property twice"},
        {PLY("ascii") ONE "element nothing 5\nend_header\n0 0 0\n", "line 7: element 'nothing' has no properties"},
        {PLY("ascii") "element vertex 0\n" XYZ "end_header\n", "line 3: 0 vertices; accepted: at least one"},
        {PLY("ascii") "element vertex 9\n" XYZ "end_header\n0 0 0\n",
         "line 3: element 'vertex': 9 of it do not fit the 6 bytes that follow the header"},
        {PLY("binary_little_endian") "element vertex 20\n" XYZ "end_header\nabc",
         "line 3: element 'vertex': 20 of it do not fit the 3 bytes that follow the header"},
        {PLY("ascii") "element vertex 10000000000000\n" XYZ "end_header\n",
         "line 3: 10000000000000 items do not fit the 63 bytes that follow"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        REFUSES("a.ply", cases[i][0], cases[i][1]);
}
END_TEST

START_TEST(tables_of_ply_have_a_limit)
{
    char text[20000] = PLY("ascii") "element vertex 1\n";
    for (int i = 0; i < 257; i++)
        sprintf(text + strlen(text), "property int a%d\n", i);
    REFUSES("a.ply", text, "line 260: accepted: up to 256 properties");
    strcpy(text, PLY("ascii"));
    for (int i = 0; i < 17; i++)
        sprintf(text + strlen(text), "element e%d 0\n", i);
    REFUSES("a.ply", text, "line 19: accepted: up to 16 elements");
}
END_TEST

START_TEST(wrong_ply_as_text)
{
    static const char *const cases[][2] = {
        {PLY("ascii") ONE "end_header\n0 0 nan\n", "line 8: 'nan': accepted: a number from -1e+12 to 1e+12"},
        {PLY("ascii") ONE "end_header\n0 0\n   \n  ", "line 10: the file ends in vertex 1 of 1"},
        {PLY("ascii") ONE FACES(1) "end_header\n0 0 0\n3 0 0 1\n", "line 11: vertex '1' of face 1: accepted: 0 to 0"},
        {PLY("ascii") ONE FACES(1) "end_header\n0 0 0\n-3 0 0 1\n",
         "line 11: length '-3' of face 1: accepted: 0 to 10"},
        {PLY("ascii") ONE FACES(2) "end_header\n0 0 0\n3 0 0 0\n", "line 11: the file ends in face 2 of 2"},
        {PLY("ascii") ONE FACES(1) "end_header\n0 0 0\n3 0 0", "line 11: the file ends in face 1 of 1"},
        {PLY("ascii") ONE "end_header\n0 0 0\n", "the points have no normals, and there are no faces to make them "
                                                 "from; accepted: nx, ny and nz (PLY), NOFF, vn "
                                                 "(OBJ), or faces"},
        {PLY("ascii") ONE FACES(1) "end_header\n0 0 0\n3 0 0 0\n",
         "no point has a normal that is not 0, given or from faces of some area"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        REFUSES("a.ply", cases[i][0], cases[i][1]);
}
END_TEST

static void refuse_binary(const char *bytes, size_t size, size_t at, const char *what)
{
    char expected[200];
    snprintf(expected, sizeof expected, "byte %zu: %s", at, what);
    ck_assert_int_eq(parse_bytes("a.ply", bytes, size), -1);
    ck_assert_str_eq(error.text, expected);
}

START_TEST(wrong_ply_in_binary)
{
    enum { VERTEX = 17, FACE = 13 };
    char bytes[PLY_ROOM];
    for (int is_big = 0; is_big < 2; is_big++) {
        size_t size = binary_ply(bytes, is_big, NAN, 3), body = size - 4 * VERTEX - 3 * FACE;
        refuse_binary(bytes, size, body + 4 * VERTEX - 4, "nan: accepted: a number from -1e+12 to 1e+12");
        binary_ply(bytes, is_big, INFINITY, 3);
        refuse_binary(bytes, size, body + 4 * VERTEX - 4, "inf: accepted: a number from -1e+12 to 1e+12");
        binary_ply(bytes, is_big, 4, 4);
        refuse_binary(bytes, size, size - 4, "vertex '4' of face 3: accepted: 0 to 3");
        binary_ply(bytes, is_big, 4, -1);
        refuse_binary(bytes, size, size - 4, "vertex '-1' of face 3: accepted: 0 to 3");
        binary_ply(bytes, is_big, 4, 3);
        refuse_binary(bytes, size - 1, size - 4, "the file ends in face 3 of 3");
        bytes[body + 4 * VERTEX] = 4; /* corners of the first face: what follows is read as one corner too many */
        ck_assert_int_eq(parse_bytes("a.ply", bytes, size), -1);
    }
}
END_TEST

/* Cut off anywhere, a file is refused or, where only the end of the last number or white space is gone, read. */
START_TEST(cut_off_anywhere)
{
    char bytes[PLY_ROOM];
    static const char off[] = "NOFF\n3 1 0\n0 0 0 0 0 1\n1 0 0 0 0 1\n0 1 0 0 0 1\n3 0 1 2\n";
    static const char obj[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1\n";
    size_t size = binary_ply(bytes, true, 4, 3);
    for (size_t cut = 0; cut < size; cut++)
        ck_assert_msg(parse_bytes("a.ply", bytes, cut) == -1 && error.text[0] != '\0', "cut at %d", (int)cut);
    for (size_t cut = 0; cut + 2 < sizeof off; cut++)
        ck_assert_msg(parse_bytes("a.off", off, cut) == -1 && error.text[0] != '\0', "cut at %d", (int)cut);
    for (size_t cut = 0; cut < sizeof obj; cut++)
        if (parse_bytes("a.obj", obj, cut) == 0)
            mesh_fini(&mesh);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mesh");
    TCase *tcase = tcase_create("mesh");
    tcase_add_test(tcase, every_format_gives_the_same);
    tcase_add_test(tcase, given_normals_count_and_are_made_one_long);
    tcase_add_test(tcase, corners_name_their_normals_in_obj);
    tcase_add_test(tcase, points_without_a_normal_are_left_out);
    tcase_add_test(tcase, polygons_are_weighted_by_their_area);
    tcase_add_test(tcase, other_elements_of_ply_are_skipped);
    tcase_add_test(tcase, unknown_kinds);
    tcase_add_test(tcase, wrong_off);
    tcase_add_test(tcase, wrong_obj);
    tcase_add_test(tcase, wrong_ply_headers);
    tcase_add_test(tcase, tables_of_ply_have_a_limit);
    tcase_add_test(tcase, wrong_ply_as_text);
    tcase_add_test(tcase, wrong_ply_in_binary);
    tcase_add_test(tcase, cut_off_anywhere);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
