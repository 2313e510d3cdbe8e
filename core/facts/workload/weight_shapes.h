#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The weights of a model's layers as matrices on one GPU. Pure functions.

#include "core/facts/workload/model_spec.h"

namespace trainyard {

/// Which layers a GPU has, and by how many ranks their matrices are divided.
struct LayersHere {
    bool dense = false, experts = false;
    int tensor = 1, expertTensor = 1;
};
/// Elements of one weight of each shape.
[[nodiscard]] double distinctWeightElements(const ModelSpec &model, LayersHere layers);
/// Of the largest matrix of a layer on one tensor rank: its gradient exists in the weights' precision for a moment.
[[nodiscard]] double largestMatrixElements(const ModelSpec &model, int tensor);

} // namespace trainyard
