// SPDX-License-Identifier: GPL-3.0-or-later
// The page for man, in the macros of man(7), which groff and mandoc both read.
#include "app/about/build_info.h"
#include "app/about/manual.h"

#include <algorithm>
#include <cctype>

namespace trainyard::about {

namespace {

constexpr std::size_t kLongestLine = 78; // bytes of a line of the source, for who reads that

/// What man would take for one of its own signs. Dashes stay dashes, so that an option can be copied and searched.
std::string escaped(const std::string &text)
{
    std::string out;
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if (c == '\'')
            out += "\\(aq";
        else if (c == '`')
            out += "\\(ga";
        else if (c == '^')
            out += "\\(ha";
        else if (c == '~')
            out += "\\(ti";
        else
            out += c;
    }
    return out;
}

/// Text filled to lines; a dot at the start of one would be a macro.
std::string filled(const std::string &text)
{
    std::string out, line;
    const auto flush = [&] {
        if (line.empty())
            return;
        out += (line.front() == '.' ? "\\&" : "") + line + '\n';
        line.clear();
    };
    std::size_t at = 0;
    const std::string all = escaped(text);
    while (at < all.size()) {
        const std::size_t end = std::min(all.find_first_of(" \n", at), all.size());
        const std::string word = all.substr(at, end - at);
        at = end + 1;
        if (word.empty())
            continue;
        if (!line.empty() && line.size() + 1 + word.size() > kLongestLine)
            flush();
        line += (line.empty() ? "" : " ") + word;
    }
    flush();
    return out;
}

std::string bold(const std::string &text)
{
    return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(const std::string &text)
{
    return "\\fI" + escaped(text) + "\\fR";
}

bool hasManyChoices(const ManualOption &option)
{
    constexpr std::size_t kMost = 6; // beyond, they are no heading
    return option.choices.size() > kMost;
}

std::string manValue(const ManualOption &option)
{
    if (option.choices.empty() || hasManyChoices(option))
        return italic(option.value);
    std::string text;
    for (const std::string &choice : option.choices)
        text += (text.empty() ? "" : "|") + bold(choice);
    return text;
}

std::string repeated(const ManualOption &option, const std::string &shown)
{
    const bool isTold = option.value.ends_with("...");
    return shown + (option.isRepeated && !isTold ? "\\&..." : "");
}

/// "-h, --help", "--out OUT.csv".
std::string headOf(const ManualOption &option)
{
    std::string text;
    for (const std::string &name : option.names)
        text += (text.empty() ? "" : ", ") + bold(name);
    if (option.names.empty())
        return repeated(option, manValue(option));
    return option.value.empty() ? text : text + ' ' + manValue(option);
}

std::string withDot(const std::string &text)
{
    return text.empty() || text.ends_with('.') ? text : text + '.';
}

std::string helpOf(const ManualOption &option)
{
    std::string text = withDot(option.help);
    if (hasManyChoices(option)) {
        text += " One of";
        for (const std::string &choice : option.choices)
            text += (choice == option.choices.front() ? " " : ", ") + choice;
        text += '.';
    }
    if (!option.standard.empty() && option.standard != "\"\"" && option.standard != "[]")
        text += " Without it: " + option.standard + '.';
    if (option.isRequired && !option.names.empty())
        text += " Required.";
    return filled(text);
}

std::string listOf(const std::vector<ManualOption> &options)
{
    std::string text;
    for (const ManualOption &option : options)
        text += ".TP\n" + headOf(option) + '\n' + helpOf(option);
    return text;
}

/// One line: the name, what is required, "[OPTIONS]", the arguments or the command.
std::string synopsisOf(const ManualCommand &command, const std::string &name)
{
    std::string text = bold(name) + " [" + italic("OPTIONS") + ']';
    for (const ManualOption &option : command.options)
        if (option.isRequired)
            text += ' ' + headOf(option);
    for (const ManualOption &argument : command.arguments) {
        const std::string shown = argument.choices.empty() ? headOf(argument) : italic(argument.value);
        text += argument.isRequired ? ' ' + shown : " [" + shown + ']';
    }
    if (!command.commands.empty())
        text += ' ' + italic("COMMAND") + " ...";
    return text + '\n';
}

/// "0 done; 2 bad usage": an entry each.
std::string exitStatus(const std::string &codes)
{
    std::string text;
    std::size_t at = 0;
    while (at < codes.size()) {
        const std::size_t end = std::min(codes.find("; ", at), codes.size());
        const std::string entry = codes.substr(at, end - at);
        at = end + 2;
        const std::size_t space = entry.find(' ');
        if (space != std::string::npos && std::isdigit(static_cast<unsigned char>(entry.front())))
            text += ".TP\n" + bold(entry.substr(0, space)) + '\n' + filled(entry.substr(space + 1));
        else
            text += filled(entry);
    }
    return text;
}

std::string sectionOf(const ManualPlace &place, const ManualCommand &program)
{
    const ManualCommand &command = *place.command;
    std::string name = place.path.substr(1);
    std::ranges::replace(name, '/', ' ');
    std::string text = ".SS " + escaped(name) + '\n';
    text += synopsisOf(command, program.name + ' ' + name) + ".PP\n" + filled(withDot(command.help));
    text += listOf(command.arguments) + listOf(command.options);
    if (!command.exitCodes.empty() && command.exitCodes != program.exitCodes)
        text += ".PP\n" + filled("Exit status: " + command.exitCodes + '.');
    return text;
}

std::string upper(std::string text)
{
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return char(std::toupper(c)); });
    return text;
}

std::string withoutDot(std::string text)
{
    if (text.ends_with('.'))
        text.pop_back();
    return text;
}

} // namespace

std::string manPage(const ManualCommand &program)
{
    const BuildInfo &build = buildInfo();
    std::string text = ".\\\" Made by " + program.name + " --manual man.\n";
    text += ".TH " + escaped(upper(program.name)) + " 1 \"" + build.date + "\" \"Trainyard " + build.version
        + "\" \"User Commands\"\n";
    text += ".SH NAME\n" + escaped(program.name) + " \\- " + escaped(withoutDot(program.help)) + '\n';
    text += ".SH SYNOPSIS\n" + synopsisOf(program, program.name);
    text += ".SH DESCRIPTION\n" + filled(withDot(program.help));
    text += listOf(program.arguments);
    text += ".SH OPTIONS\n" + listOf(program.options);
    const std::vector<ManualPlace> places = placesOf(program);
    if (places.size() > 1)
        text += ".SH COMMANDS\n";
    for (const ManualPlace &place : places)
        if (place.command != &program && place.command->commands.empty())
            text += sectionOf(place, program);
    if (!program.exitCodes.empty())
        text += ".SH EXIT STATUS\n" + exitStatus(program.exitCodes);
    text += ".SH FILES\n"
        + filled("Samples and documentation lie where " + program.name
            + " --version says. Plans are "
              "*.trainyard.json, recordings of runs *.trainyard-recording.");
    text += ".SH SEE ALSO\n";
    std::string others;
    for (const char *name : { "trainyard", "trainyard-cli", "trainyard-sweep" })
        if (program.name != name)
            others += (others.empty() ? "" : ",\n") + (".BR " + escaped(name) + " (1)");
    return text + others + '\n';
}

} // namespace trainyard::about
