#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A classic GPT of any width and heads, for tests of shapes.

#include "core/facts/plan/plan.h"

namespace trainyard::test {

inline ModelSpec classicModel(int hidden, int heads)
{
    ModelSpec model;
    model.name = "classic";
    model.layers = 4;
    model.hidden = hidden;
    model.heads = model.kvHeads = heads;
    model.headDim = hidden / heads;
    model.ffn = 4 * hidden;
    model.vocab = 51200;
    return model;
}

} // namespace trainyard::test
