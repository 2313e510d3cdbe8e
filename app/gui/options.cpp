// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/options.h"

#include "app/about/manual.h"
#include "app/about/version.h"
#include "models/live_document.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QRegularExpression>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace trainyard {

namespace {

QString optionText(const char *text)
{
    return QCoreApplication::translate("Options", text);
}

constexpr int kLongestSide = 8192; // a picture of that square takes 256 MiB
constexpr int kFastest = 100'000, kLongestSeconds = 7 * 86'400;

constexpr struct {
    const char *name;
    bool Options::*shows; // null: the workbench
} kPages[] = {
    { "plan", nullptr },
    { "datacenters", &Options::showsDatacenters },
    { "memory", &Options::showsMemory },
    { "shares", &Options::showsShares },
    { "baselines", &Options::showsBaselines },
    { "experts", &Options::showsExperts },
    { "jobs", &Options::showsJobs },
    { "layer", &Options::showsLayer },
    { "run", &Options::showsRun },
    { "live", &Options::showsLive },
    { "connect", &Options::showsConnect },
    { "planner", &Options::showsPlanner },
    { "board", &Options::showsBoard },
    { "compare", &Options::showsComparison },
    { "validation", &Options::showsValidation },
    { "new", &Options::showsNewPlan },
};

constexpr struct {
    const char *name;
    ThemeKind kind;
} kThemes[] = {
    { "system", ThemeKind::System },
    { "light", ThemeKind::Light },
    { "dark", ThemeKind::Dark },
    { "high-contrast", ThemeKind::HighContrast },
};

template <class Table> QStringList namesOf(const Table &table)
{
    QStringList names;
    for (const auto &entry : table)
        names << QLatin1String(entry.name);
    return names;
}

QStringList manualFormats()
{
    QStringList names;
    for (const std::string_view format : about::kManualFormats)
        names << QString::fromUtf8(format.data(), qsizetype(format.size()));
    return names;
}

/// "system, light, dark or high-contrast".
QString anyOf(QStringList names)
{
    const QString last = names.takeLast();
    return optionText("%1 or %2").arg(names.join(QStringLiteral(", ")), last);
}

QString sentenceOf(const Error &error)
{
    QString text = QString::fromStdString(error.what);
    if (!error.right.empty())
        text += optionText("; expected %1").arg(QString::fromStdString(error.right));
    return text;
}

std::optional<QSize> parseSize(const QString &text)
{
    static const QRegularExpression pattern(QStringLiteral("^(\\d{2,5})x(\\d{2,5})$"));
    const auto match = pattern.match(text);
    if (!match.hasMatch())
        return std::nullopt;
    const QSize size(match.captured(1).toInt(), match.captured(2).toInt());
    return std::max(size.width(), size.height()) <= kLongestSide ? std::optional(size) : std::nullopt;
}

/// All that the window takes besides what Qt takes out of its arguments.
struct KnownOptions {
    QCommandLineOption screenshot { QStringLiteral("screenshot"),
        optionText("Render the main window into a PNG file and exit."), QStringLiteral("OUT.png") };
    QCommandLineOption size { QStringLiteral("size"), optionText("Size of the screenshot, 1440x900 unless told."),
        QStringLiteral("WIDTHxHEIGHT") };
    QCommandLineOption theme { QStringLiteral("theme"), optionText("Colours: %1.").arg(anyOf(namesOf(kThemes))),
        QStringLiteral("NAME") };
    QCommandLineOption page { QStringLiteral("page"),
        optionText(
            "What to show: plan, datacenters (the plan, with their ranking in front), memory (the plan, with what "
            "fills its GPUs and what to do about it), shares or baselines (the plan, with what each set of GPUs gets, "
            "or would get from other systems), experts (exchanges with experts compared), jobs (schedulers of jobs "
            "compared), layer (an expert layer, opened), run (a recorded run beside the plan), live (a run that goes "
            "on: --live), connect (the sheet that connects to one), planner (which searches for a better plan; in a "
            "screenshot it has, with --frames it does), board (the variants of a session and its decisions), compare "
            "(two "
            "of its variants beside each other), validation, or new (the sheet for a new plan)."),
        QStringLiteral("NAME"), QStringLiteral("plan") };
    QCommandLineOption report { QStringLiteral("report"),
        optionText("Write the plan's report as PDF to --out and exit.") };
    QCommandLineOption out { QStringLiteral("out"), optionText("File of the report."), QStringLiteral("OUT.pdf") };
    QCommandLineOption run { QStringLiteral("run"),
        optionText("A file or folder that a real run left behind, to be laid under the plan; several: once each."),
        QStringLiteral("PATH") };
    QCommandLineOption reference { QStringLiteral("compare-run"),
        optionText("A file or folder of another run, which is compared with in place of the plan; several: once each."),
        QStringLiteral("PATH") };
    QCommandLineOption live { QStringLiteral("live"),
        optionText("Where a run that goes on tells of itself: http://HOST:9090, listen:4318, tcp://HOST:PORT, "
                   "tail:FILE, command:COMMAND or replay:RECORDING; several: once each."),
        QStringLiteral("ADDRESS") };
    QCommandLineOption liveSpeed { QStringLiteral("live-speed"),
        optionText("How many times as fast recordings are replayed; 0: as fast as it goes, as for a screenshot."),
        QStringLiteral("FACTOR") };
    QCommandLineOption alarms { QStringLiteral("alarms"),
        optionText("File with rules of alarms and who is notified of them: commands and webhooks."),
        QStringLiteral("FILE") };
    QCommandLineOption alarmLog { QStringLiteral("alarm-log"),
        optionText("Log of alarms, lines of JSON that are added at its end."), QStringLiteral("LOG") };
    QCommandLineOption webhooksAnywhere { QStringLiteral("webhooks-anywhere"),
        optionText("Also notify webhooks beyond this machine.") };
    QCommandLineOption frames { QStringLiteral("frames"),
        optionText("Measure how long the window was busy at a time, and write it with its memory when it ends."),
        QStringLiteral("OUT.json") };
    QCommandLineOption seconds { QStringLiteral("seconds"), optionText("End after so long, for measurements."),
        QStringLiteral("SECONDS") };
    QCommandLineOption manual { QStringLiteral("manual"), optionText(about::kManualHelp) + u'.',
        QStringLiteral("FORMAT") };

    [[nodiscard]] QList<QCommandLineOption> all() const
    {
        return { screenshot, size, theme, page, report, out, run, reference, live, liveSpeed, alarms, alarmLog,
            webhooksAnywhere, frames, seconds, manual };
    }
};

const QString &description()
{
    static const QString text =
        optionText("Plans the training of large models on clusters that span datacenters, in a window.");
    return text;
}

const QString &fileHelp()
{
    static const QString text = optionText(
        "What to open: a plan, the first sample unless told; or recordings and other files of a run, which are laid "
        "under the plan, or else under the one that they tell of.");
    return text;
}

about::ManualCommand manualOf(const QList<QCommandLineOption> &options)
{
    about::ManualCommand told { "trainyard", description().toStdString(),
        "0 done; 2 bad usage or bad input, or no display to open a window on", {}, {}, {} };
    for (const QCommandLineOption &option : options) {
        about::ManualOption one;
        for (const QString &name : option.names())
            one.names.push_back((name.size() == 1 ? "-" : "--") + name.toStdString());
        one.value = option.valueName().toStdString();
        one.help = option.description().toStdString();
        one.standard = option.defaultValues().join(u' ').toStdString();
        one.isRepeated = option.names().contains(QStringLiteral("run"))
            || option.names().contains(QStringLiteral("compare-run"))
            || option.names().contains(QStringLiteral("live"));
        const QStringList choices = option.names().contains(QStringLiteral("page")) ? namesOf(kPages)
            : option.names().contains(QStringLiteral("theme"))                      ? namesOf(kThemes)
            : option.names().contains(QStringLiteral("manual"))                     ? manualFormats()
                                                                                    : QStringList();
        for (const QString &choice : choices)
            one.choices.push_back(choice.toStdString());
        told.options.push_back(std::move(one));
    }
    told.arguments.push_back({ .value = "FILE", .help = fileHelp().toStdString(), .isRepeated = true });
    return told;
}

[[noreturn]] void printAndExit(const std::string &text)
{
    std::puts(text.c_str());
    std::exit(0);
}

/// What stands for itself, without what it means for one another.
std::expected<void, QString> readNumbers(const QCommandLineParser &parser, const KnownOptions &known, Options &options)
{
    if (parser.isSet(known.size)) {
        const auto parsed = parseSize(parser.value(known.size));
        if (!parsed)
            return std::unexpected(optionText("--size %1: expected WIDTHxHEIGHT such as 1440x900, each from 10 to %2")
                                       .arg(parser.value(known.size))
                                       .arg(kLongestSide));
        options.size = *parsed;
    }
    bool isNumber = true;
    options.liveSpeed = parser.isSet(known.liveSpeed) ? parser.value(known.liveSpeed).toDouble(&isNumber)
        : options.screenshot.isEmpty()                ? 1
                                                      : 0;
    if (!isNumber || !(options.liveSpeed >= 0) || options.liveSpeed > kFastest)
        return std::unexpected(optionText("--live-speed %1: expected a number from 0 to %2")
                                   .arg(parser.value(known.liveSpeed))
                                   .arg(kFastest));
    if (parser.isSet(known.seconds))
        options.seconds = parser.value(known.seconds).toInt(&isNumber);
    if (!isNumber || options.seconds < 0 || options.seconds > kLongestSeconds)
        return std::unexpected(optionText("--seconds %1: expected a whole number from 1 to %2")
                                   .arg(parser.value(known.seconds))
                                   .arg(kLongestSeconds));
    return {};
}

std::expected<void, QString> readNames(const QCommandLineParser &parser, const KnownOptions &known, Options &options)
{
    const auto isNamed = [](const QString &name) {
        return [name](const auto &entry) { return name == QLatin1String(entry.name); };
    };
    const auto page = std::ranges::find_if(kPages, isNamed(parser.value(known.page)));
    if (page == std::end(kPages))
        return std::unexpected(
            optionText("--page %1: expected %2").arg(parser.value(known.page), anyOf(namesOf(kPages))));
    if (page->shows)
        options.*(page->shows) = true;
    if (!parser.isSet(known.theme))
        return {};
    const auto theme = std::ranges::find_if(kThemes, isNamed(parser.value(known.theme)));
    if (theme == std::end(kThemes))
        return std::unexpected(
            optionText("--theme %1: expected %2").arg(parser.value(known.theme), anyOf(namesOf(kThemes))));
    options.theme = theme->kind;
    return {};
}

} // namespace

std::expected<Options, QString> parseOptions(const QStringList &arguments)
{
    const KnownOptions known;
    QCommandLineParser parser;
    parser.setApplicationDescription(description());
    const QCommandLineOption help = parser.addHelpOption(), version = parser.addVersionOption();
    parser.addOptions(known.all());
    parser.addPositionalArgument(QStringLiteral("FILE"), fileHelp(), QStringLiteral("[FILE...]"));
    if (!parser.parse(QStringList { QCoreApplication::applicationFilePath() } + arguments))
        return std::unexpected(parser.errorText());
    if (parser.isSet(help))
        parser.showHelp();
    if (parser.isSet(version))
        printAndExit(
            about::versionText("trainyard", { { "Qt", std::string(qVersion()) + ", built with " + QT_VERSION_STR } }));
    if (parser.isSet(known.manual)) {
        const QString format = parser.value(known.manual);
        if (!manualFormats().contains(format))
            return std::unexpected(optionText("--manual %1: expected %2").arg(format, anyOf(manualFormats())));
        const QCommandLineOption helpAll(
            QStringLiteral("help-all"), optionText("Displays help including generic Qt options."));
        printAndExit(about::manualText(
            manualOf(QList<QCommandLineOption> { help, helpAll, version } + known.all()), format.toStdString()));
    }

    Options options;
    options.files = parser.positionalArguments();
    options.screenshot = parser.value(known.screenshot);
    options.report = parser.value(known.out);
    if (parser.isSet(known.report) != parser.isSet(known.out)
        || (parser.isSet(known.report) && options.files.size() != 1))
        return std::unexpected(optionText("--report needs a plan and --out OUT.pdf"));
    options.run = parser.values(known.run);
    options.reference = parser.values(known.reference);
    options.live = parser.values(known.live);
    for (const QString &address : options.live)
        if (const auto parsed = live::parseAddress(address.toStdString()); !parsed)
            return std::unexpected(optionText("--live %1: %2") // not the address, which may have a secret in it
                                       .arg(QString::fromStdString(parsed.error().where), sentenceOf(parsed.error())));
    options.alarms = parser.value(known.alarms);
    options.alarmLog = parser.value(known.alarmLog);
    options.allowsWebhooksAnywhere = parser.isSet(known.webhooksAnywhere);
    options.frames = parser.value(known.frames);
    if (const auto numbers = readNumbers(parser, known, options); !numbers)
        return std::unexpected(numbers.error());
    if (const auto names = readNames(parser, known, options); !names)
        return std::unexpected(names.error());
    return options;
}

} // namespace trainyard
