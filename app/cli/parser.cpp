// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/parser.h"

#include <CLI/CLI.hpp>

#include <cmath>

namespace trainyard::cli {

Option Option::required() const
{
    return Option(m_option->required());
}

Option Option::shownAs(const std::string &text) const
{
    return Option(m_option->option_text(text));
}

Option Option::oneOf(const std::vector<std::string> &allowed) const
{
    return Option(m_option->check(CLI::IsMember(allowed)));
}

Option Option::between(int least, int most) const
{
    return Option(m_option->check(CLI::Range(least, most)));
}

Option Option::times(int least, int most) const
{
    return Option(m_option->expected(least, most));
}

Option Option::oneEach() const
{
    return Option(m_option->allow_extra_args(false));
}

Option Option::showingDefault() const
{
    return Option(m_option->capture_default_str());
}

Subcommand::Subcommand(CLI::App &app)
    : m_command(&app)
{
}

Subcommand::Subcommand(CLI::App &app, const std::string &name, const std::string &help)
    : m_command(app.add_subcommand(name, help))
{
}

Subcommand::Subcommand(const Subcommand &parent, const std::string &name, const std::string &help)
    : m_command(parent.m_command->add_subcommand(name, help))
{
    parent.m_command->require_subcommand(1);
}

Option Subcommand::text(const std::string &name, std::string &value, const std::string &help) const
{
    return Option(m_command->add_option(name, value, help));
}

Option Subcommand::texts(const std::string &name, std::vector<std::string> &values, const std::string &help) const
{
    return Option(m_command->add_option(name, values, help));
}

Option Subcommand::number(const std::string &name, int &value, const std::string &help) const
{
    return Option(m_command->add_option(name, value, help));
}

Option Subcommand::real(const std::string &name, double &value, const std::string &help) const
{
    return Option(m_command->add_option(name, value, help)
                      ->check(CLI::Validator(
                          [](const std::string &text) {
                              double number = 0;
                              return CLI::detail::lexical_cast(text, number) && std::isfinite(number)
                                  ? std::string()
                                  : text + " is no number that can be reckoned with";
                          },
                          "")));
}

void Subcommand::flag(const std::string &name, bool &value, const std::string &help) const
{
    m_command->add_flag(name, value, help);
}

void Subcommand::exitCodes(const std::string &own) const
{
    m_command->footer("Exit codes: 0 done; " + own + (own.empty() ? "" : "; ")
        + "2 bad usage or bad input; 3 internal; 130 stopped by Ctrl-C.");
}

void Subcommand::callback(const std::function<void()> &action) const
{
    m_command->callback(action);
}

} // namespace trainyard::cli
