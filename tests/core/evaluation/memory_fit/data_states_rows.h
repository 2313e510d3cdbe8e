#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The measured runs of DataStates' artifacts, and what their launch scripts say of their models beyond the rows' names:
// gated MLP, 4 heads of keys and values, no biases, both tables apart, 50,304 tokens.

#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <string>

namespace trainyard::test {

inline constexpr int kKeyValueHeads = 4, kTokens = 50304;

/// Null where the shared data is not beside the repository.
inline nlohmann::json rowsOf(const char *name)
{
    std::ifstream file(std::string(TRAINYARD_SHARED_DIR) + "/validation/test/" + name);
    return file ? nlohmann::json::parse(file).at("rows") : nlohmann::json {};
}

/// Inner width of the MLP of the models named 40 to 120 billion.
inline int ffnOf(const nlohmann::json &row)
{
    static const std::map<double, int> kWidths { { 40, 20480 }, { 52, 21824 }, { 70, 28672 }, { 100, 28672 },
        { 120, 28672 } };
    return kWidths.at(row.at("model").at("params_B").get<double>());
}

} // namespace trainyard::test
