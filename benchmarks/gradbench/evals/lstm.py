"""The loss of a small recurrent network that predicts the next character; its weights are diagonal."""

import numpy as np

import wengert as wg

from .evaluation import Evaluation


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def cell_of(weight, bias, hidden, cell, x):
    """The next hidden state and cell of a layer; gates in the order forget, in, out, change."""
    forget = sigmoid(x * weight[0] + bias[0])
    ingate = sigmoid(hidden * weight[1] + bias[1])
    outgate = sigmoid(x * weight[2] + bias[2])
    change = np.tanh(hidden * weight[3] + bias[3])
    cell = cell * forget + ingate * change
    return outgate * np.tanh(cell), cell


def predict(main, extra, state, x):
    """The prediction after character x; the state moves on."""
    x = x * extra[0]
    for k in range(len(state)):
        x, cell = cell_of(main[k, 0], main[k, 1], state[k, 0], state[k, 1], x)
        state[k, 0] = x
        state[k, 1] = cell
    return x * extra[1] + extra[2]


def objective(main, extra, start, sequence):
    state = start.copy()
    total = 0.0
    for t in range(len(sequence) - 1):
        prediction = predict(main, extra, state, sequence[t])
        normalised = prediction - np.log(2 + np.sum(np.exp(prediction)))
        total += np.sum(sequence[t + 1] * normalised)
    return -total / ((len(sequence) - 1) * sequence.shape[1])


def read(given):
    main, extra, state, sequence = (
        np.array(given[name], dtype=float)
        for name in ("main_params", "extra_params", "state", "sequence")
    )
    layers, bits = len(main) // 2, sequence.shape[1]
    return (
        main.reshape(layers, 2, 4, bits),
        extra,
        state.reshape(layers, 2, bits),
        sequence,
    )


def tell(gradients):
    return np.concatenate([g.ravel() for g in gradients]).tolist()


FUNCTIONS = {
    "objective": Evaluation(wg.jit(objective), read),
    "jacobian": Evaluation(wg.jit(wg.grad(objective, (0, 1))), read, tell),
}
