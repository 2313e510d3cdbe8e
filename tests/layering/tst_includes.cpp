// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of ARCHITECTURE.md and docs/house about who may use what, checked by reading the sources.

#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

#include <algorithm>
#include <iterator>
#include <map>

namespace {

struct Source {
    QString path; // relative to the repository, "core/facts/plan/plan.h"
    QString text;
    QStringList includes; // as written, with brackets or quotes
    [[nodiscard]] bool isIn(const char *folder) const { return path.startsWith(QLatin1String(folder)); }
    [[nodiscard]] bool isHeader() const { return path.endsWith(QLatin1String(".h")); }
};

std::vector<Source> readSources()
{
    static const QRegularExpression include(
        QStringLiteral("^\\s*#\\s*include\\s*([<\"][^>\"]+[>\"])"), QRegularExpression::MultilineOption);
    const QDir root(QStringLiteral(TRAINYARD_SOURCE_DIR));
    std::vector<Source> sources;
    for (const char *folder : { "core", "models", "views", "app" }) {
        QDirIterator files(root.filePath(QLatin1String(folder)), { QStringLiteral("*.h"), QStringLiteral("*.cpp") },
            QDir::Files, QDirIterator::Subdirectories);
        while (files.hasNext()) {
            QFile file(files.next());
            if (!file.open(QIODevice::ReadOnly))
                continue;
            Source source { root.relativeFilePath(file.fileName()), QString::fromUtf8(file.readAll()), {} };
            for (auto matches = include.globalMatch(source.text); matches.hasNext();)
                source.includes.append(matches.next().captured(1));
            sources.push_back(std::move(source));
        }
    }
    return sources;
}

/// One line a breach: "views/x.cpp includes <y>".
template <class Source, class Rule> QStringList breaches(const std::vector<Source> &sources, Rule isForbidden)
{
    QStringList found;
    for (const Source &source : sources) {
        for (const QString &include : source.includes) {
            if (isForbidden(source, include))
                found.append(source.path + QStringLiteral(" includes ") + include);
        }
    }
    return found;
}

bool matches(const QString &text, const char *pattern)
{
    return QRegularExpression(QLatin1String(pattern)).match(text).hasMatch();
}

constexpr const char *kFoldersOfRooms[] = { "core", "models", "views" };

using Graph = std::map<QString, QSet<QString>>;

QString textOf(const QString &path)
{
    QFile file(QDir(QStringLiteral(TRAINYARD_SOURCE_DIR)).filePath(path));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// What stands in the block "```title" of a page.
QString block(const QString &page, const QString &title)
{
    return textOf(page)
        .section(QStringLiteral("\n```") + title + QLatin1Char('\n'), 1)
        .section(QStringLiteral("\n```"), 0, 0);
}

/// From the lowest up, as ARCHITECTURE.md says.
const QStringList &floors()
{
    static const QStringList floors =
        block(QStringLiteral("ARCHITECTURE.md"), QStringLiteral("floors of core")).split(QLatin1Char(' '));
    return floors;
}

using Lines = std::vector<std::pair<QString, QStringList>>;

/// The lines of a page that say which rooms a room includes.
Lines linesOf(const QString &page, const QString &folder)
{
    Lines lines;
    for (const QString &line :
        block(page, QStringLiteral("rooms of ") + folder).split(QLatin1Char('\n'), Qt::SkipEmptyParts))
        lines.emplace_back(line.section(QLatin1Char(':'), 0, 0),
            line.section(QLatin1Char(':'), 1).split(QLatin1Char(' '), Qt::SkipEmptyParts));
    return lines;
}

QString pageOf(const QString &floor)
{
    return QStringLiteral("docs/house/%1.md").arg(floor);
}

/// Of the core its floors' lines, from the lowest floor up.
Lines writtenLines(const QString &folder)
{
    if (folder != QLatin1String("core"))
        return linesOf(pageOf(QStringLiteral("window")), folder);
    Lines lines;
    for (const QString &floor : floors())
        std::ranges::copy(linesOf(pageOf(floor), floor), std::back_inserter(lines));
    return lines;
}

/// The folder of each room of the core: that of its floor's name is the floor's own, beside its rooms.
const std::map<QString, QString> &roomsOfTheCore()
{
    static const std::map<QString, QString> rooms = [] {
        std::map<QString, QString> found;
        for (const QString &floor : floors())
            for (const auto &[room, included] : linesOf(pageOf(floor), floor))
                found[QStringLiteral("core/") + (room == floor ? floor : floor + QLatin1Char('/') + room)] = room;
        return found;
    }();
    return rooms;
}

/// "cost" of "core/iteration/cost/kernels/gemm.h"; the folder itself of a file beside its rooms; empty in another
/// folder.
QString roomOf(const QString &path, const char *folder)
{
    if (!path.startsWith(QLatin1String(folder) + QLatin1Char('/')))
        return {};
    if (path.startsWith(QLatin1String("core/"))) {
        for (const int depth : { 2, 1 })
            if (const auto room = roomsOfTheCore().find(path.section(QLatin1Char('/'), 0, depth));
                room != roomsOfTheCore().end())
                return room->second;
        return path; // in no room that a page names
    }
    return path.count(QLatin1Char('/')) > 1 ? path.section(QLatin1Char('/'), 1, 1) : QString::fromLatin1(folder);
}

Graph writtenGraph(const QString &folder)
{
    Graph graph;
    for (const auto &[room, included] : writtenLines(folder))
        graph[room] = { included.begin(), included.end() };
    return graph;
}

} // namespace

#define QVERIFY_NONE(found) QVERIFY2((found).isEmpty(), qPrintable((found).join(QLatin1Char('\n'))))

class TstIncludes : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        m_sources = readSources();
        QVERIFY(m_sources.size() > 20);
    }

    void theCoreAndTheCommandLineUseNoQt()
    {
        QVERIFY_NONE(breaches(m_sources, [](const Source &source, const QString &include) {
            return (source.isIn("core/") || source.isIn("app/cli/") || source.isIn("app/about/"))
                && (matches(include, "^<Q[A-Za-z]") || matches(include, "^[<\"](models|views)/"));
        }));
    }

    void aRoomUsesOnlyTheRoomsBelowIt()
    {
        QVERIFY_NONE(breaches(m_sources, [](const Source &source, const QString &include) {
            return (source.isIn("models/") && matches(include, "^\"(views|app)/"))
                || (source.isIn("views/") && matches(include, "^\"app/"))
                || (source.isIn("core/") && matches(include, "^\"(models|views|app)/"));
        }));
    }

    /// A block "rooms of …" of a page has a line a room with those that it includes. Each of them stands on a line
    /// above or on a floor below, so that no include goes up a floor and no way leads from a room back to itself.
    void roomsIncludeEachOtherAsTheirPagesSay()
    {
        for (const char *folder : kFoldersOfRooms) {
            const Graph written = writtenGraph(QLatin1String(folder));
            QVERIFY2(written.size() > 2, folder);
            QStringList found;
            Graph used;
            for (const Source &source : m_sources) {
                const QString room = roomOf(source.path, folder);
                for (const QString &include : room.isEmpty() ? QStringList() : source.includes) {
                    const QString other = roomOf(include.mid(1), folder);
                    if (other.isEmpty() || other == room)
                        continue;
                    used[room].insert(other);
                    if (!written.contains(room) || !written.at(room).contains(other))
                        found.append(source.path + QStringLiteral(" includes ") + include
                            + QStringLiteral(", which its page does not say"));
                }
            }
            for (const auto &[room, included] : written)
                for (const QString &other : included)
                    if (!used[room].contains(other))
                        found.append(room + QStringLiteral(" does not include ") + other
                            + QStringLiteral(", which its page says"));
            QVERIFY_NONE(found);
        }
    }

    void whatARoomIncludesIsWrittenAboveIt()
    {
        for (const char *folder : kFoldersOfRooms) {
            QSet<QString> above;
            for (const auto &[room, included] : writtenLines(QLatin1String(folder))) {
                QVERIFY2(!above.contains(room), qPrintable(room));
                for (const QString &other : included)
                    QVERIFY2(above.contains(other), qPrintable(room + QStringLiteral(" includes ") + other));
                above.insert(room);
            }
            QSet<QString> rooms;
            for (const Source &source : m_sources)
                rooms.insert(roomOf(source.path, folder));
            rooms.remove(QString());
            QCOMPARE(above, rooms);
        }
    }

    void thePictureOfTheHouseHasEveryRoom()
    {
        const QString picture = textOf(QStringLiteral("docs/house/house.svg"));
        for (const auto &[folder, room] : roomsOfTheCore())
            QVERIFY2(picture.contains(QLatin1Char('>') + room + QLatin1Char('<')), qPrintable(room));
    }

    void theEngineKnowsNoRoomButItsOwn()
    {
        QVERIFY_NONE(breaches(m_sources, [](const Source &source, const QString &include) {
            return source.isIn("core/engine/timeline/") && matches(include, "^\"")
                && !matches(include, "^\"core/(base|engine/timeline)/");
        }));
    }

    void schedulesAreNamedInTheirRoomAndInThePlanAlone()
    {
        QStringList found;
        for (const Source &source : m_sources)
            if (!source.isIn("core/engine/schedule/") && !source.isIn("core/facts/plan/")
                && matches(source.text, "\\bScheduleKind::[A-Z]"))
                found.append(source.path + QStringLiteral(" names a schedule instead of asking its traits"));
        QVERIFY_NONE(found);
    }

    void measuredStageTimesAreAskedForWhereStagesGetTheirSourceAlone()
    {
        QStringList found;
        for (const Source &source : m_sources)
            if (!source.isIn("core/iteration/placement/") && !source.isIn("core/facts/plan/")
                && matches(source.text, "(\\.|->)profile\\b"))
                found.append(
                    source.path + QStringLiteral(" asks for the profile instead of what is known of the stages"));
        QVERIFY_NONE(found);
    }

    /// A placed workload is not changed: another plan or another layout makes another one.
    void onlyTheRoomOfLayoutsChangesAWorkload()
    {
        QStringList found;
        for (const Source &source : m_sources)
            if (source.isIn("core/") && !source.isIn("core/iteration/layouts/")
                && matches(source.text, "(?<!const )\\b(Workload|Requested) &(?!inMaking)\\w+[,)]"))
                found.append(source.path + QStringLiteral(" takes a workload to change it"));
        QVERIFY_NONE(found);
    }

    void onlyTheRoomOfContributorsIncludesThem()
    {
        QVERIFY_NONE(breaches(m_sources, [](const Source &source, const QString &include) {
            return source.isIn("core/") && !source.isIn("core/iteration/graph/")
                && matches(include, "^\"core/iteration/graph/(contributors|class_tasks|forward_policies)\\.h");
        }));
    }

    void modelsHaveNoWidgets()
    {
        // The classes of Qt Widgets that a model could be tempted by; QUndoStack is in Qt Gui.
        QVERIFY_NONE(breaches(m_sources, [](const Source &source, const QString &include) {
            return source.isIn("models/")
                && (matches(include, "^<(QtWidgets|QCustomPlot)")
                    || matches(include,
                        "^<Q(Application|[A-Za-z]*(Widget|Dialog|Box|Button|View|Label|Menu|MenuBar|ToolBar|"
                        "MainWindow|Style|Layout|Edit|Slider|ScrollArea|Splitter|ToolTip))>"));
        }));
    }

    void oneGatewayIncludesQCustomPlot()
    {
        QVERIFY_NONE(breaches(m_sources, [](const Source &source, const QString &include) {
            return include.contains(QLatin1String("qcustomplot.h"))
                && source.path != QLatin1String("views/plots/qcustomplot_gateway.h");
        }));
    }

    void fourFilesSeeTheParserOfTheCommandLine()
    {
        QVERIFY_NONE(breaches(m_sources, [](const Source &source, const QString &include) {
            return include.startsWith(QLatin1String("<CLI/")) && source.path != QLatin1String("app/cli/parser.cpp")
                && source.path != QLatin1String("app/cli/parser_manual.cpp")
                && source.path != QLatin1String("app/cli/main.cpp")
                && source.path != QLatin1String("app/sweep/main.cpp");
        }));
    }

    void aFileReachesTheStandardHeadersItUsesWithoutThePrecompiledOnes()
    {
        // What a header is wanted for, by its header: a file includes it, or an own header that it includes does.
        static const std::map<QString, QRegularExpression> uses {
            { QStringLiteral("algorithm"),
                QRegularExpression(QStringLiteral(
                    "std::(ranges::(sort|stable_sort|find|find_if|any_of|all_of|none_of|m(ax|in)(_element)?|count|"
                    "transform|copy|fill|lower_bound|upper_bound|reverse)|sort|clamp|m(ax|in)_element)\\b")) },
            { QStringLiteral("array"), QRegularExpression(QStringLiteral("std::array\\b")) },
            { QStringLiteral("cmath"),
                QRegularExpression(
                    QStringLiteral("std::(sqrt|pow|log|log2|exp|ceil|floor|round|llround|lround|isfinite|hypot)\\b")) },
            { QStringLiteral("cstdio"), QRegularExpression(QStringLiteral("std::(snprintf|printf|fopen)\\b")) },
            { QStringLiteral("filesystem"), QRegularExpression(QStringLiteral("std::filesystem\\b")) },
            { QStringLiteral("functional"), QRegularExpression(QStringLiteral("std::function\\b")) },
            { QStringLiteral("limits"), QRegularExpression(QStringLiteral("std::numeric_limits\\b")) },
            { QStringLiteral("map"), QRegularExpression(QStringLiteral("std::(multi)?map\\b")) },
            { QStringLiteral("memory"), QRegularExpression(QStringLiteral("std::(make_)?(shared|unique)(_ptr)?\\b")) },
            { QStringLiteral("numeric"),
                QRegularExpression(QStringLiteral("std::(accumulate|iota|gcd|lcm|partial_sum)\\b")) },
            { QStringLiteral("optional"), QRegularExpression(QStringLiteral("std::(optional|nullopt)\\b")) },
            { QStringLiteral("set"), QRegularExpression(QStringLiteral("std::(multi)?set\\b")) },
            { QStringLiteral("span"), QRegularExpression(QStringLiteral("std::span\\b")) },
            { QStringLiteral("stop_token"), QRegularExpression(QStringLiteral("std::stop_(token|source)\\b")) },
            { QStringLiteral("string"), QRegularExpression(QStringLiteral("std::(to_)?string\\b")) },
            { QStringLiteral("string_view"), QRegularExpression(QStringLiteral("std::string_view\\b")) },
            { QStringLiteral("tuple"), QRegularExpression(QStringLiteral("std::(tuple|tie)\\b")) },
            { QStringLiteral("variant"), QRegularExpression(QStringLiteral("std::(variant|visit|get_if)\\b")) },
            { QStringLiteral("vector"), QRegularExpression(QStringLiteral("std::vector\\b")) }
        };
        static const QRegularExpression comment(QStringLiteral("//.*"));
        std::map<QString, const Source *> byPath;
        for (const Source &source : m_sources)
            byPath[source.path] = &source;
        QStringList found;
        int checked = 0;
        for (const Source &source : m_sources) {
            QSet<QString> reached;
            QStringList open = source.includes;
            while (!open.isEmpty()) {
                const QString include = open.takeLast();
                if (reached.contains(include))
                    continue;
                reached.insert(include);
                if (const auto own = byPath.find(include.mid(1, include.size() - 2)); own != byPath.end())
                    open.append(own->second->includes);
            }
            const QString code = QString(source.text).remove(comment);
            for (const auto &[header, use] : uses) {
                if (!use.match(code).hasMatch())
                    continue;
                ++checked;
                if (!reached.contains(QStringLiteral("<%1>").arg(header)))
                    found.append(QStringLiteral("%1 uses what <%2> declares").arg(source.path, header));
            }
        }
        QVERIFY(checked > 500);
        QVERIFY_NONE(found);
    }

    void noPublicHeaderShowsJson()
    {
        // A header whose name ends in _internal.h is shared between .cpp files of its folder only.
        QVERIFY_NONE(breaches(m_sources, [](const Source &source, const QString &include) {
            return source.isIn("core/") && source.isHeader() && include.contains(QLatin1String("nlohmann"))
                && !source.path.endsWith(QLatin1String("_internal.h"));
        }));
    }

    void theNetworkHasOneGateway()
    {
        // Boost.Asio and Beast cost seconds of every file that sees them.
        QVERIFY_NONE(breaches(m_sources, [](const Source &source, const QString &include) {
            const bool isGateway = source.isIn("core/live/net/")
                && (!source.isHeader() || source.path.endsWith(QLatin1String("_internal.h")));
            return matches(include, "^[<\"](boost|openssl)/") && !isGateway;
        }));
    }

    void anInternalHeaderStaysInItsFolder()
    {
        QVERIFY_NONE(breaches(m_sources, [](const Source &source, const QString &include) {
            if (!include.endsWith(QLatin1String("_internal.h\"")))
                return false;
            // The JSON reader of plans also reads validation rows: one parser, one way to say what is wrong in a file.
            // So do heads of sweep files, which hold a plan. Sessions hold many, read and written as plan files are.
            if (include == QLatin1String("\"core/facts/plan/json_document_internal.h\"")
                && (source.isIn("core/evaluation/validation/") || source.isIn("core/planner/sweep/")))
                return false;
            if (include == QLatin1String("\"core/facts/plan/plan_json_internal.h\"")
                && source.isIn("core/facts/session/"))
                return false;
            // The parser below it is that of the catalogue and of config.json too.
            if (include == QLatin1String("\"core/base/json_parser_internal.h\"")
                && (source.isIn("core/facts/plan/") || source.isIn("core/facts/catalogue/")))
                return false;
            const QString folder = include.mid(1, include.lastIndexOf(QLatin1Char('/')));
            return !source.path.startsWith(folder);
        }));
    }

    void viewsOnlyRead()
    {
        QVERIFY_NONE(breaches(m_sources, [](const Source &source, const QString &include) {
            return source.isIn("views/")
                && matches(include,
                    "^\"core/(engine/timeline/(simulator|graph_builder|task_graph)|iteration/graph/|evaluation/"
                    "(advice/evaluator|report/)|runs/telemetry/)");
        }));
    }

    void onlyTheApplicationOpensMessageBoxes()
    {
        QVERIFY_NONE(breaches(m_sources, [](const Source &source, const QString &include) {
            return !source.isIn("app/") && matches(include, "^<(QMessageBox|QErrorMessage)>");
        }));
    }

    /// One definition rule: two types of one name are one to the linker, which keeps the functions of either. What lies
    /// in an unnamed namespace is its file's own.
    void everyTypeHasOneDefinition()
    {
        static const QRegularExpression unnamed(QStringLiteral("^namespace \\{$.*?^\\}( // namespace)?$"),
            QRegularExpression::MultilineOption | QRegularExpression::DotMatchesEverythingOption);
        static const QRegularExpression space(
            QStringLiteral("^namespace ([\\w:]+)"), QRegularExpression::MultilineOption);
        static const QRegularExpression type(
            QStringLiteral("^(?:(?:struct|class|enum class|enum|union) (\\w+)(?: final)?(?: :[^{;]*)?\\s*\\{"
                           "|(?:template <.*>\\s+)?using (\\w+) =)"),
            QRegularExpression::MultilineOption);
        std::map<QString, QStringList> definitions;
        for (const Source &source : m_sources) {
            QString text = source.text;
            for (auto ends = text.indexOf(QLatin1String("} // namespace\n")); ends >= 0;
                 ends = text.indexOf(QLatin1String("} // namespace\n"))) {
                const auto begins = text.lastIndexOf(QLatin1String("namespace {\n"), ends);
                QVERIFY2(begins >= 0, qPrintable(source.path));
                text.remove(begins, ends + 15 - begins);
            }
            text.remove(unnamed); // short ones close without a comment
            const QString inside = space.match(text).captured(1);
            for (auto found = type.globalMatch(text); found.hasNext();) {
                const auto one = found.next();
                definitions[inside + QStringLiteral("::") + one.captured(1) + one.captured(2)].append(source.path);
            }
        }
        QVERIFY(definitions.size() > 200);
        QStringList found;
        for (const auto &[name, files] : definitions) {
            if (files.size() > 1)
                found.append(name + QStringLiteral(" in ") + files.join(QStringLiteral(" and ")));
        }
        QVERIFY_NONE(found);
    }

    void noFileIsLongerThanFourHundredLines()
    {
        QStringList found;
        for (const Source &source : m_sources) {
            if (const auto lines = source.text.count(QLatin1Char('\n')); lines > 400)
                found.append(source.path + QStringLiteral(": ") + QString::number(lines));
        }
        QVERIFY_NONE(found);
    }

    void everyFileNamesItsLicence()
    {
        QStringList found;
        for (const Source &source : m_sources) {
            if (!source.text.left(200).contains(QLatin1String("SPDX-License-Identifier: GPL-3.0-or-later")))
                found.append(source.path);
        }
        QVERIFY_NONE(found);
    }

    void everyHeaderIsGuardedAndTellsItsStory()
    {
        static const QRegularExpression opening(
            QStringLiteral("\\A#pragma once\\n// SPDX-License-Identifier: GPL-3.0-or-later\\n(// \\S.*\\n)+"));
        QStringList found;
        for (const Source &source : m_sources) {
            if (source.isHeader() && !opening.match(source.text).hasMatch())
                found.append(source.path);
        }
        QVERIFY_NONE(found);
    }

    void noNameLeaksWhereTheCodeWasWritten()
    {
        QStringList found;
        for (const Source &source : m_sources) {
            if (matches(source.text, "/(home|work)/[a-z]"))
                found.append(source.path);
        }
        QVERIFY_NONE(found);
    }

private:
    std::vector<Source> m_sources;
};

TRAINYARD_APPLESS_TEST(TstIncludes)
#include "tst_includes.moc"
