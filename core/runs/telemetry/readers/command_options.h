#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Options of command lines that start a training, by the names that Megatron prints ("--seq-length 4096" is
// seq_length), torchtitan's with their section ("training.seq_len"); of launchers only how many nodes and processes
// they start.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::readers {

/// "--tensor-model-parallel-size" and "tensor-model-parallel-size" are "tensor_model_parallel_size"; empty where it is
/// no name of an option.
[[nodiscard]] std::string argumentName(std::string_view option);
/// Whether only trainers have an argument of that name: one of them tells that a command or file is a training's.
[[nodiscard]] bool isOfTraining(std::string_view name);
/// "True" and "False" of the words that YAML and TOML have for them; others as they are, without quotes around them.
[[nodiscard]] std::string argumentValue(std::string_view text);

struct CommandOptions {
    std::map<std::string, std::string> arguments;
    int unknown = 0; // values that a script does not tell
    /// of these options: what would tell them, "$TP"
    std::map<std::string, std::string> untold;
    /// words among a program's options that a script does not tell, "$EXTRA_ARGS": any options may stand there
    std::vector<std::string> lists;
    /// "pretrain_gpt.py" of the command
    std::string program;
    int trainings = 0; // of the arguments and of what is untold, those that isOfTraining()

    /// The first of a name stays; secrets are left out.
    void add(std::string name, std::string value);
    /// The last of a name stays, as argparse and Hydra have it within a command.
    void set(std::string name, std::string value);
};
/// Of the words of a command (or of a list of options); words that are commands themselves are looked into.
[[nodiscard]] CommandOptions optionsOf(const std::vector<std::string> &words);

} // namespace trainyard::readers
