// SPDX-License-Identifier: GPL-3.0-or-later
// Completion for bash: a function that finds the command that the words before the cursor name, and offers what may
// follow. It needs nothing but bash.
#include "app/about/manual.h"

namespace trainyard::about {

namespace {

std::string spaced(const std::vector<std::string> &words)
{
    std::string text;
    for (const std::string &word : words)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

std::string offer(const std::string &words)
{
    return "COMPREPLY=($(compgen -W " + inSingleQuotes(words) + " -- \"$cur\"))";
}

/// "'/evaluate --set' | '/evaluate --trace'".
std::string patternOf(const std::string &path, const ManualOption &option)
{
    std::string text;
    for (const std::string &name : option.names)
        text += (text.empty() ? "" : " | ") + inSingleQuotes(path + ' ' + name);
    return text;
}

std::string valuesAt(const ManualPlace &place)
{
    std::string text;
    for (const ManualOption &option : place.command->options) {
        if (option.value.empty())
            continue;
        const std::string what = !option.choices.empty() ? offer(spaced(option.choices))
            : namesFiles(option.value)                   ? "compopt -o default 2> /dev/null"
                                                         : ":";
        text += "        " + patternOf(place.path, option) + ") " + what + "; return ;;\n";
    }
    return text;
}

std::string optionsAt(const ManualPlace &place)
{
    std::vector<std::string> names;
    for (const ManualOption &option : place.command->options)
        names.insert(names.end(), option.names.begin(), option.names.end());
    return "            " + inSingleQuotes(place.path) + ") " + offer(spaced(names)) + " ;;\n";
}

std::string argumentsAt(const ManualPlace &place)
{
    std::vector<std::string> words;
    for (const ManualCommand &below : place.command->commands)
        words.push_back(below.name);
    bool hasFiles = false;
    for (const ManualOption &argument : place.command->arguments) {
        words.insert(words.end(), argument.choices.begin(), argument.choices.end());
        hasFiles = hasFiles || namesFiles(argument.value);
    }
    if (words.empty() && !hasFiles)
        return {};
    return "        " + inSingleQuotes(place.path) + ") "
        + (words.empty() ? "compopt -o default 2> /dev/null" : offer(spaced(words))) + " ;;\n";
}

} // namespace

std::string bashCompletion(const ManualCommand &program)
{
    const std::string function = '_' + functionName(program.name);
    std::string paths, values, options, arguments;
    for (const ManualPlace &place : placesOf(program)) {
        if (!place.path.empty())
            paths += (paths.empty() ? "" : " | ") + place.path;
        values += valuesAt(place);
        options += optionsAt(place);
        arguments += argumentsAt(place);
    }
    std::string text = "# Completes " + program.name + " in bash. Made by " + program.name + " --manual bash.\n";
    text += function + "()\n{\n";
    text += "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} path= i\n";
    text += "    COMPREPLY=()\n";
    text += "    # --name=value comes as three words.\n";
    text += "    if [[ $cur == = ]]; then\n        cur=\n";
    text +=
        "    elif [[ $prev == = ]] && ((COMP_CWORD > 2)); then\n        prev=${COMP_WORDS[COMP_CWORD - 2]}\n    fi\n";
    if (!paths.empty()) {
        text += "    for ((i = 1; i < COMP_CWORD; i++)); do\n";
        text += "        case $path/${COMP_WORDS[i]} in\n            " + paths
            + ") path=$path/${COMP_WORDS[i]} ;;\n        esac\n    done\n";
    }
    if (!values.empty())
        text += "    case \"$path $prev\" in\n" + values + "    esac\n";
    text +=
        "    if [[ $cur == -* ]]; then\n        case $path in\n" + options + "        esac\n        return\n    fi\n";
    if (!arguments.empty())
        text += "    case $path in\n" + arguments + "    esac\n";
    return text + "}\ncomplete -F " + function + ' ' + program.name + '\n';
}

} // namespace trainyard::about
