// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/parser_manual.h"

#include "app/about/version.h"

#include <CLI/CLI.hpp>

namespace trainyard::cli {

namespace {

/// Option::oneOf() describes its values as "{table,json}", behind the name of the type.
std::vector<std::string> choicesOf(const std::string &typeName)
{
    const std::size_t begin = typeName.find('{'), end = typeName.rfind('}');
    if (begin == std::string::npos || end == std::string::npos)
        return {};
    return CLI::detail::split(typeName.substr(begin + 1, end - begin - 1), ',');
}

about::ManualOption manualOf(const CLI::Option &option)
{
    about::ManualOption told;
    for (const std::string &name : option.get_snames())
        told.names.push_back("-" + name);
    for (const std::string &name : option.get_lnames())
        told.names.push_back("--" + name);
    told.help = option.get_description();
    told.choices = choicesOf(option.get_type_name());
    told.standard = option.get_default_str();
    told.isRequired = option.get_required();
    told.isRepeated = option.get_expected_max() > 1;
    if (option.get_positional())
        told.value = option.get_name(true);
    else if (option.get_expected_max() > 0 && option.get_type_size_max() > 0) // else a flag
        told.value = !option.get_option_text().empty()   ? option.get_option_text()
            : option.get_type_name().starts_with("TEXT") ? "TEXT"
                                                         : "N";
    return told;
}

/// Of "Exit codes: 0 done; 2 bad input." what stands behind the colon.
std::string exitCodesOf(const std::string &footer)
{
    constexpr std::string_view start = "Exit codes: ";
    const std::size_t at = footer.find(start);
    if (at == std::string::npos)
        return {};
    const std::string codes = footer.substr(at + start.size());
    return codes.substr(0, codes.find_last_not_of(".\n") + 1);
}

} // namespace

about::ManualCommand manualOf(const CLI::App &app)
{
    about::ManualCommand told { app.get_name(), app.get_description(), exitCodesOf(app.get_footer()), {}, {}, {} };
    for (const CLI::Option *option : app.get_options())
        (option->get_positional() ? told.arguments : told.options).push_back(manualOf(*option));
    for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
        told.commands.push_back(manualOf(*command));
    return told;
}

void addQuestions(CLI::App &app)
{
    // The parser prints what this exception holds, and the program ends with 0.
    app.set_version_flag(
        "--version", [&app] { return about::versionText(app.get_name()); },
        "Print version, commit and build, and exit");
    const std::vector<std::string> formats(std::begin(about::kManualFormats), std::end(about::kManualFormats));
    app.add_option_function<std::string>(
           "--manual",
           [&app](
               const std::string &format) { throw CLI::CallForVersion(about::manualText(manualOf(app), format), 0); },
           about::kManualHelp)
        ->check(CLI::IsMember(formats));
}

} // namespace trainyard::cli
