"""Reading handwritten digits: a two-layer network in plain NumPy, trained by wengert gradients."""

import numpy as np
from sklearn.datasets import load_digits

import wengert as wg

HIDDEN, CLASSES = 32, 10
EPOCHS, BATCH, RATE = 40, 50, 0.3


def scores(params, images):
    hidden = np.tanh(images @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def loss(params, images, labels):
    """The mean cross-entropy of the labels."""
    shifted = scores(params, images)
    shifted = shifted - shifted.max(axis=1, keepdims=True)
    log_total = np.log(np.exp(shifted).sum(axis=1))
    return np.mean(log_total - shifted[np.arange(len(labels)), labels])


def accuracy(params, images, labels):
    return np.mean(scores(params, images).argmax(axis=1) == labels)


rng = np.random.default_rng(0)
digits = load_digits()  # 1797 images of 8 x 8 pixels
order = rng.permutation(len(digits.target))
images, labels = digits.data[order] / 16, digits.target[order]
train, test = slice(0, 1400), slice(1400, None)

params = {
    "w1": rng.normal(size=(images.shape[1], HIDDEN)) / np.sqrt(images.shape[1]),
    "b1": np.zeros(HIDDEN),
    "w2": rng.normal(size=(HIDDEN, CLASSES)) / np.sqrt(HIDDEN),
    "b2": np.zeros(CLASSES),
}
loss_and_gradient = wg.value_and_grad(loss)

for epoch in range(1, EPOCHS + 1):
    for batch in np.split(rng.permutation(1400), 1400 // BATCH):
        value, gradient = loss_and_gradient(params, images[batch], labels[batch])
        params = {name: params[name] - RATE * gradient[name] for name in params}
    if epoch % 5 == 0:
        print(f"epoch {epoch:2}: loss of the last batch {value:.4f}", flush=True)

print(f"training accuracy {accuracy(params, images[train], labels[train]):.4f}")
print(f"test accuracy     {accuracy(params, images[test], labels[test]):.4f}")
