#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a command describes what it takes. CLI11 stands behind it: its templates cost five seconds in every file that
// sees them, so that only parser.cpp, parser_manual.cpp and main.cpp do. Main thread only; what options are written to
// outlives the parsing.

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace trainyard::cli {

/// An option, or an argument by place, while it is described.
class Option {
public:
    explicit Option(CLI::Option *option)
        : m_option(option)
    {
    }
    Option required() const;
    /// What stands for its value in the help.
    Option shownAs(const std::string &text) const;
    Option oneOf(const std::vector<std::string> &allowed) const;
    Option between(int least, int most) const;
    /// How many values it takes.
    Option times(int least, int most) const;
    /// One value each time that it is named.
    Option oneEach() const;
    /// The help names the value that its variable has now.
    Option showingDefault() const;

private:
    CLI::Option *m_option;
};

class Subcommand {
public:
    /// The program itself, of one that has no commands.
    explicit Subcommand(CLI::App &app);
    Subcommand(CLI::App &app, const std::string &name, const std::string &help);
    /// One of a command that has several: `telemetry summarize`. The parent then asks for one of them.
    Subcommand(const Subcommand &parent, const std::string &name, const std::string &help);
    Option text(const std::string &name, std::string &value, const std::string &help) const;
    Option texts(const std::string &name, std::vector<std::string> &values, const std::string &help) const;
    Option number(const std::string &name, int &value, const std::string &help) const;
    Option real(const std::string &name, double &value, const std::string &help) const;
    void flag(const std::string &name, bool &value, const std::string &help) const;
    /// Under the help: what its exit codes say, those that every command has not.
    void exitCodes(const std::string &own) const;
    /// What to do once the command line is read.
    void callback(const std::function<void()> &action) const;

private:
    CLI::App *m_command;
};

} // namespace trainyard::cli
