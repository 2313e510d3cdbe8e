// SPDX-License-Identifier: GPL-3.0-or-later
// Completion for zsh: a function a command, each of which describes what it takes to _arguments.
#include "app/about/manual.h"

#include <algorithm>

namespace trainyard::about {

namespace {

/// What _arguments would take for one of its own signs.
std::string inSpec(const std::string &text)
{
    std::string out;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\')
            out += '\\';
        out += c;
    }
    return out;
}

/// What completes a value: ":PLAN:_files", ":FORMAT:(table json)".
std::string actionOf(const ManualOption &option)
{
    std::string choices;
    for (const std::string &choice : option.choices)
        choices += (choices.empty() ? "" : " ") + choice;
    return ':' + inSpec(option.value) + ':'
        + (!choices.empty()                ? '(' + choices + ')'
                : namesFiles(option.value) ? "_files"
                                           : " ");
}

std::string linesOf(const ManualOption &option)
{
    std::string text;
    for (const std::string &name : option.names) {
        std::string others;
        for (const std::string &other : option.names)
            others += (others.empty() ? "" : " ") + other;
        const std::string before = option.isRepeated ? "*" : option.names.size() > 1 ? '(' + others + ')' : "";
        text += " \\\n        "
            + inSingleQuotes(before + name + (!option.value.empty() && name.starts_with("--") ? "=" : "") + '['
                + inSpec(option.help) + ']' + (option.value.empty() ? "" : actionOf(option)));
    }
    return text;
}

std::string functionAt(const std::string &program, const std::string &path)
{
    std::string name = '_' + functionName(program) + path;
    std::ranges::replace(name, '/', '_');
    return functionName(name);
}

std::string functionText(const std::string &program, const ManualPlace &place)
{
    const ManualCommand &command = *place.command;
    const std::string name = functionAt(program, place.path);
    std::string text = name + "() {\n";
    if (!command.commands.empty())
        text += "    local curcontext=\"$curcontext\" state line\n    typeset -A opt_args\n";
    text += command.commands.empty() ? "    _arguments -S" : "    _arguments -C";
    for (const ManualOption &option : command.options)
        text += linesOf(option);
    for (const ManualOption &argument : command.arguments)
        text += " \\\n        "
            + inSingleQuotes((argument.isRepeated          ? "*"
                                     : argument.isRequired ? ""
                                                           : ":")
                + actionOf(argument));
    if (command.commands.empty())
        return text + "\n}\n";
    text += " \\\n        '1: :->command' '*:: :->rest'\n";
    text += "    case $state in\n    command)\n        local -a commands=(";
    for (const ManualCommand &below : command.commands)
        text += "\n            " + inSingleQuotes(inSpec(below.name) + ':' + below.help);
    text += ")\n        _describe command commands\n        ;;\n    rest)\n        case $words[1] in\n";
    for (const ManualCommand &below : command.commands)
        text += "        " + below.name + ") " + functionAt(program, place.path + '/' + below.name) + " ;;\n";
    return text + "        esac\n        ;;\n    esac\n}\n";
}

} // namespace

std::string zshCompletion(const ManualCommand &program)
{
    std::string text = "#compdef " + program.name + "\n# Completes " + program.name + " in zsh. Made by " + program.name
        + " --manual zsh.\n";
    for (const ManualPlace &place : placesOf(program))
        text += functionText(program.name, place);
    return text + functionAt(program.name, {}) + " \"$@\"\n";
}

} // namespace trainyard::about
