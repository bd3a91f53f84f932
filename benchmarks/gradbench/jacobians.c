/* Jacobians of two of GradBench's objectives, written by hand: the yardstick of `measure.py`. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t integer;

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* The matrix of the cross product with a vector. */
static void crossing(const double *a, double m[3][3])
{
    double all[3][3] = {{0, -a[2], a[1]}, {a[2], 0, -a[0]}, {-a[1], a[0], 0}};
    memcpy(m, all, sizeof all);
}

/* The matrix of a rotation, by axis and angle; and its derivatives by the three coordinates. */
static void rotation(const double *r, double turn[3][3], double changes[3][3][3])
{
    double square = dot(r, r), angle = sqrt(square), s = sin(angle), c = cos(angle), axis[3], around[3][3];
    if (square == 0) {
        for (int k = 0; k < 3; k++) crossing((double[]){k == 0, k == 1, k == 2}, changes[k]);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) turn[i][j] = i == j;
        return;
    }
    for (int i = 0; i < 3; i++) axis[i] = r[i] / angle;
    crossing(axis, around);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) turn[i][j] = (i == j ? c : 0) + s * around[i][j] + (1 - c) * axis[i] * axis[j];
    for (int k = 0; k < 3; k++) {
        double change[3], crossed[3][3];
        for (int i = 0; i < 3; i++) change[i] = ((i == k) - axis[k] * axis[i]) / angle;
        crossing(change, crossed);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                changes[k][i][j] = axis[k] * ((i == j ? -s : 0) + c * around[i][j] + s * axis[i] * axis[j])
                                   + s * crossed[i][j] + (1 - c) * (change[i] * axis[j] + axis[i] * change[j]);
    }
}

/* --- bundle adjustment ------------------------------------------------------------------ */

enum { OF_CAMERA = 11, OF_POINT = 3, OF_ERROR = OF_CAMERA + OF_POINT + 1 };

/* Two rows of the Jacobian: by the camera, the point and the weight. */
static void error_rows(const double *camera, const double *point, double weight, const double *feature,
                       double *restrict rows)
{
    double p[3], y[3], by_rotation[3][3], turn[3][3], changes[3][3][3];
    for (int i = 0; i < 3; i++) p[i] = point[i] - camera[3 + i];
    rotation(camera, turn, changes);
    for (int i = 0; i < 3; i++) {
        y[i] = dot(turn[i], p);
        for (int k = 0; k < 3; k++) by_rotation[k][i] = dot(changes[k][i], p);
    }
    double focus = camera[6], q[2] = {y[0] / y[2], y[1] / y[2]}, square = q[0] * q[0] + q[1] * q[1];
    double scale = 1 + camera[9] * square + camera[10] * square * square;
    double growth = 2 * camera[9] + 4 * camera[10] * square;
    for (int i = 0; i < 2; i++, rows += OF_ERROR) {
        double ahead = weight * focus, q_bar[2], y_bar[3];
        for (int j = 0; j < 2; j++) q_bar[j] = ahead * (growth * q[i] * q[j] + (i == j ? scale : 0));
        y_bar[0] = q_bar[0] / y[2];
        y_bar[1] = q_bar[1] / y[2];
        y_bar[2] = -(y_bar[0] * q[0] + y_bar[1] * q[1]);
        for (int j = 0; j < 3; j++) {
            double by_place = turn[0][j] * y_bar[0] + turn[1][j] * y_bar[1] + turn[2][j] * y_bar[2];
            rows[j] = dot(by_rotation[j], y_bar);
            rows[3 + j] = -by_place;
            rows[OF_CAMERA + j] = by_place;
        }
        rows[6] = weight * scale * q[i];
        rows[7] = i == 0 ? weight : 0;
        rows[8] = i == 1 ? weight : 0;
        rows[9] = ahead * q[i] * square;
        rows[10] = ahead * q[i] * square * square;
        rows[14] = focus * scale * q[i] + camera[7 + i] - feature[i];
    }
}

void ba(const double *cameras, const double *points, const double *weights, const integer *observations,
        const double *features, integer n, integer m, integer p, integer *restrict starts,
        integer *restrict columns, double *restrict values)
{
    integer at = 0, first_of_points = OF_CAMERA * n, first_of_weights = first_of_points + OF_POINT * m;
    for (integer k = 0; k < p; k++) {
        integer camera = observations[2 * k], point = observations[2 * k + 1];
        error_rows(cameras + OF_CAMERA * camera, points + OF_POINT * point, weights[k], features + 2 * k, values + at);
        for (int row = 0; row < 2; row++, at += OF_ERROR) {
            integer *of_row = columns + at;
            starts[2 * k + row] = at;
            for (int i = 0; i < OF_CAMERA; i++) of_row[i] = OF_CAMERA * camera + i;
            for (int i = 0; i < OF_POINT; i++) of_row[OF_CAMERA + i] = first_of_points + OF_POINT * point + i;
            of_row[OF_CAMERA + OF_POINT] = first_of_weights + k;
        }
    }
    for (integer k = 0; k < p; k++, at++) {
        starts[2 * p + k] = at;
        values[at] = -2 * weights[k];
        columns[at] = first_of_weights + k;
    }
    starts[3 * p] = at;
}

/* --- hand tracking ---------------------------------------------------------------------- */

enum { GLOBAL = 6, OF_FINGER = 4, ANGLES = 20, PARAMETERS = GLOBAL + ANGLES };

typedef double matrix[4][4];

static void product(matrix a, matrix b, matrix c)
{
    memset(c, 0, sizeof(matrix));
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            for (int j = 0; j < 4; j++) c[i][j] += a[i][k] * b[k][j];
}

/* A rotation about x, then one about z: the motion, or its derivative by the angle. */
static void bend(double s, double c, double rest, matrix m)
{
    matrix of_x = {{rest, 0, 0, 0}, {0, c, -s, 0}, {0, s, c, 0}, {0, 0, 0, rest}};
    memcpy(m, of_x, sizeof(matrix));
}

static void spread(double s, double c, double rest, matrix m)
{
    matrix of_z = {{c, -s, 0, 0}, {s, c, 0, 0}, {0, 0, rest, 0}, {0, 0, 0, rest}};
    memcpy(m, of_z, sizeof(matrix));
}

/* The transform of each bone, and its derivatives by the angles that move it. */
static void pose(const double *angles, const integer *parents, matrix *relatives, matrix *inverses, integer bones,
                 matrix *transforms, matrix (*changes)[ANGLES], char (*moves)[ANGLES])
{
    matrix *absolutes = malloc(sizeof(matrix) * (size_t)bones);
    matrix (*absolute_changes)[ANGLES] = malloc(sizeof *absolute_changes * (size_t)bones);
    memset(moves, 0, (size_t)bones * ANGLES);
    for (integer bone = 0; bone < bones; bone++) {
        integer parent = parents[bone], joint = (bone - 1) % OF_FINGER, first = (bone - 1) / OF_FINGER * OF_FINGER;
        int posed = bone > 0 && joint > 0 && first < ANGLES;
        integer bends = first + (joint == 1 ? 0 : joint), spreads = first + 1;
        matrix about_x, about_z, motion, relative, identity = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
        double x = posed ? angles[bends] : 0, z = posed && joint == 1 ? angles[spreads] : 0;
        matrix *above = parent < 0 ? &identity : absolutes + parent;
        bend(sin(x), cos(x), 1, about_x);
        spread(sin(z), cos(z), 1, about_z);
        product(about_z, about_x, motion);
        product(relatives[bone], motion, relative);
        product(*above, relative, absolutes[bone]);
        for (int k = 0; parent >= 0 && k < ANGLES; k++)
            if (moves[parent][k]) {
                moves[bone][k] = 1;
                product(absolute_changes[parent][k], relative, absolute_changes[bone][k]);
            }
        if (posed) {
            matrix change, base;
            product(*above, relatives[bone], base);
            bend(cos(x), -sin(x), 0, change);
            product(about_z, change, motion);
            product(base, motion, absolute_changes[bone][bends]);
            moves[bone][bends] = 1;
            if (joint == 1) {
                spread(cos(z), -sin(z), 0, change);
                product(change, about_x, motion);
                product(base, motion, absolute_changes[bone][spreads]);
                moves[bone][spreads] = 1;
            }
        }
        product(absolutes[bone], inverses[bone], transforms[bone]);
        for (int k = 0; k < ANGLES; k++)
            if (moves[bone][k]) product(absolute_changes[bone][k], inverses[bone], changes[bone][k]);
    }
    free(absolutes); free(absolute_changes);
}

/* Adds where a bone takes the vertices that follow it. */
static void follow(matrix t, const double *base, const double *weights, integer vertices, double *restrict places)
{
    for (int i = 0; i < 3; i++)
        for (integer v = 0; v < vertices; v++)
            places[i * vertices + v] += weights[v] * (t[i][0] * base[v] + t[i][1] * base[vertices + v]
                                                      + t[i][2] * base[2 * vertices + v] + t[i][3] * base[3 * vertices + v]);
}

void ht(const double *theta, const integer *parents, const double *relatives, const double *inverses, const double *base,
        const double *weights, const integer *places, const double *points, integer bones, integer vertices,
        integer count, double *restrict jacobian)
{
    size_t of_hand = sizeof(double) * 3 * (size_t)vertices;
    double *positions = calloc(1, of_hand), *moved = calloc(ANGLES, of_hand), turn[3][3], by_rotation[3][3][3];
    matrix *transforms = malloc(sizeof(matrix) * (size_t)bones);
    matrix (*changes)[ANGLES] = malloc(sizeof *changes * (size_t)bones);
    char (*moves)[ANGLES] = malloc((size_t)bones * ANGLES);
    pose(theta + GLOBAL, parents, (matrix *)relatives, (matrix *)inverses, bones, transforms, changes, moves);
    for (integer bone = 0; bone < bones; bone++) {
        follow(transforms[bone], base, weights + bone * vertices, vertices, positions);
        for (int k = 0; k < ANGLES; k++)
            if (moves[bone][k])
                follow(changes[bone][k], base, weights + bone * vertices, vertices, moved + k * 3 * vertices);
    }
    (void)points; /* they move no derivative */
    rotation(theta, turn, by_rotation);
    for (integer c = 0; c < count; c++) {
        double at[3], *row = jacobian + c * 3 * PARAMETERS;
        for (int i = 0; i < 3; i++) at[i] = positions[i * vertices + places[c]];
        for (int i = 0; i < 3; i++, row += PARAMETERS) {
            for (int k = 0; k < 3; k++) {
                row[k] = -dot(by_rotation[k][i], at);
                row[3 + k] = i == k ? -1 : 0;
            }
            for (int k = 0; k < ANGLES; k++) {
                const double *v = moved + k * 3 * vertices + places[c];
                row[GLOBAL + k] = -(turn[i][0] * v[0] + turn[i][1] * v[vertices] + turn[i][2] * v[2 * vertices]);
            }
        }
    }
    free(positions); free(moved); free(transforms); free(changes); free(moves);
}
