// SPDX-License-Identifier: GPL-3.0-or-later
// Completion for fish: a function that says at which command the cursor stands, and a line for each thing that may
// follow there.
#include "app/about/manual.h"

namespace trainyard::about {

namespace {

std::string quoted(const std::string &text)
{
    return inSingleQuotes(text, true);
}

/// " -x -a 'table json'", " -r -F" for files, " -x" for anything else.
std::string fishValue(const ManualOption &option)
{
    if (option.value.empty())
        return {};
    std::string choices;
    for (const std::string &choice : option.choices)
        choices += (choices.empty() ? "" : " ") + choice;
    return !choices.empty() ? " -x -a " + quoted(choices) : namesFiles(option.value) ? " -r -F" : " -x";
}

std::string linesAt(const std::string &start, const ManualCommand &command)
{
    std::string text;
    for (const ManualCommand &below : command.commands)
        text += start + " -a " + quoted(below.name) + " -d " + quoted(below.help) + '\n';
    for (const ManualOption &argument : command.arguments) {
        std::string choices;
        for (const std::string &choice : argument.choices)
            choices += (choices.empty() ? "" : " ") + choice;
        if (!choices.empty())
            text += start + " -a " + quoted(choices) + '\n';
        else if (namesFiles(argument.value))
            text += start + " -F\n";
    }
    for (const ManualOption &option : command.options) {
        text += start;
        for (const std::string &name : option.names)
            text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        text += fishValue(option) + " -d " + quoted(option.help) + '\n';
    }
    return text;
}

} // namespace

std::string fishCompletion(const ManualCommand &program)
{
    const std::string at = "__" + functionName(program.name) + "_at";
    std::string text = "# Completes " + program.name + " in fish. Made by " + program.name + " --manual fish.\n";
    const std::vector<ManualPlace> places = placesOf(program);
    text += "function " + at + "\n    set -l path ''\n    for word in (commandline -opc)[2..-1]\n";
    text += "        switch \"$path/$word\"\n            case";
    for (const ManualPlace &place : places)
        if (!place.path.empty())
            text += ' ' + place.path;
    if (places.size() == 1)
        text += " ''"; // no commands
    text +=
        "\n                set path \"$path/$word\"\n        end\n    end\n    test \"$path\" = \"$argv[1]\"\nend\n";
    text += "complete -c " + program.name + " -f\n";
    for (const ManualPlace &place : places)
        text += linesAt("complete -c " + program.name + " -n " + quoted(at + " \"" + place.path + '"'), *place.command);
    return text;
}

} // namespace trainyard::about
