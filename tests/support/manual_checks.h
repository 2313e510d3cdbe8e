#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Holds the manual page and the completions of a program to what its --help lists, which another piece of code writes.
// Each check answers with what is missing, a sentence each.

#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>

#include <map>

namespace trainyard::test {

inline QString outputOf(const QString &program, const QStringList &arguments, bool withErrors = false)
{
    QProcess process;
    if (withErrors)
        process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(program, arguments);
    process.closeWriteChannel();
    return process.waitForFinished(60'000) ? QString::fromUtf8(process.readAllStandardOutput()) : QStringLiteral("?");
}

/// What --help says of the program or of one of its commands.
struct ToldByHelp {
    QStringList commands, options; // "summarize"; "-h", "--help"
    std::map<QString, QStringList> choices; // by option, of those that take a few values alone
};

inline ToldByHelp toldByHelp(const QString &program, const QStringList &command)
{
    static const QRegularExpression name(QStringLiteral("(?<![\\w-])--?[A-Za-z][\\w-]*"));
    static const QRegularExpression set(QStringLiteral("\\{([^}]*)\\}"));
    ToldByHelp told;
    bool isOfCommands = false;
    for (const QString &line : outputOf(program, command + QStringList { QStringLiteral("--help") }).split(u'\n')) {
        if (!line.startsWith(u' '))
            isOfCommands = line.startsWith(QStringLiteral("Subcommands:"));
        if (!line.startsWith(QStringLiteral("  ")) || line.startsWith(QStringLiteral("   ")))
            continue;
        const QString head = line.mid(2).section(QStringLiteral("  "), 0, 0);
        if (isOfCommands) {
            told.commands << head.trimmed();
        } else if (head.startsWith(u'-')) {
            QString last;
            for (auto all = name.globalMatch(head); all.hasNext();)
                told.options << (last = all.next().captured());
            if (const auto match = set.match(head); match.hasMatch())
                told.choices[last] = match.captured(1).split(u',');
        }
    }
    return told;
}

/// Every command that the program has, as words: {}, {"evaluate"}, {"telemetry", "compare"}.
inline std::vector<QStringList> commandsOf(const QString &program, const QStringList &start = {})
{
    std::vector<QStringList> all { start };
    for (const QString &command : toldByHelp(program, start).commands)
        for (const QStringList &below : commandsOf(program, start + QStringList { command }))
            all.push_back(below);
    return all;
}

inline QString manualOfProgram(const QString &program, const char *format)
{
    return outputOf(program, { QStringLiteral("--manual"), QLatin1String(format) });
}

inline QStringList missingIn(const QString &text, const QStringList &wanted, const QString &where)
{
    QStringList missing;
    for (const QString &word : wanted)
        if (!QRegularExpression(QStringLiteral("(?<![\\w-])%1(?![\\w-])").arg(QRegularExpression::escape(word)))
                 .match(text)
                 .hasMatch())
            missing << where + QStringLiteral(" lacks ") + word;
    return missing;
}

/// A page has the sections of man(7), each command with all its options, and nothing that a reader of pages warns of.
inline QStringList faultsOfManPage(const QString &program)
{
    QString page = manualOfProgram(program, "man");
    QStringList faults;
    for (const char *section : { "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO" })
        if (!page.contains(QStringLiteral("\n.SH ") + QLatin1String(section) + u'\n'))
            faults << QStringLiteral("no section ") + QLatin1String(section);
    static const QRegularExpression macro(QStringLiteral("^(\\.(TH|SH|SS|TP|PP|BR)( |$)|\\.\\\\\"|[^.'])"));
    for (const QString &line : page.trimmed().split(u'\n'))
        if (!macro.match(line).hasMatch())
            faults << QStringLiteral("a line that is no macro of man(7), and no text: ") + line;
    QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("page.1")));
    if (!file.open(QIODevice::WriteOnly) || file.write(page.toUtf8()) < 0)
        return { QStringLiteral("no page could be written") };
    file.close();
    for (const auto &[reader, arguments] : { std::pair { QStringLiteral("man"),
                                                 QStringList { QStringLiteral("-l"), QStringLiteral("--warnings"),
                                                     QStringLiteral("-Tutf8"), QStringLiteral("-Z") } },
             std::pair { QStringLiteral("mandoc"),
                 QStringList { QStringLiteral("-T"), QStringLiteral("lint"), QStringLiteral("-W"),
                     QStringLiteral("warning") } } }) {
        if (QStandardPaths::findExecutable(reader).isEmpty())
            continue;
        QProcess process;
        process.start(reader, arguments + QStringList { file.fileName() });
        if (!process.waitForFinished(60'000) || process.exitCode() != 0)
            faults << reader + QStringLiteral(" fails: ") + QString::fromUtf8(process.readAllStandardOutput());
        if (const QByteArray errors = process.readAllStandardError(); !errors.isEmpty())
            faults << reader + QStringLiteral(" warns: ") + QString::fromUtf8(errors);
    }
    page.replace(QStringLiteral("\\-"), QStringLiteral("-")).remove(QRegularExpression(QStringLiteral("\\\\f[BIR]")));
    for (const QStringList &command : commandsOf(program)) {
        const ToldByHelp told = toldByHelp(program, command);
        const QString path = command.join(u' ');
        const QString title = command.isEmpty() ? QStringLiteral("\n.SH OPTIONS\n") : "\n.SS " + path + u'\n';
        if (!told.commands.isEmpty() && !command.isEmpty())
            continue; // its own commands stand there
        static const QRegularExpression next(QStringLiteral("\n\\.S[SH] "));
        if (!page.contains(title))
            faults << QStringLiteral("no section of ") + path;
        const QString section = page.section(title, 1).section(next, 0, 0);
        faults += missingIn(section, told.options, QStringLiteral("the page, of ") + path);
        for (const auto &[option, choices] : told.choices)
            faults += missingIn(section, choices, QStringLiteral("the page, of ") + path + u' ' + option);
    }
    return faults;
}

/// What bash offers behind these words; the last is the one that is being typed.
inline QStringList offeredByBash(const QString &program, const QString &completion, const QStringList &words)
{
    const QString function = u'_' + QString(program.section(u'/', -1)).replace(u'-', u'_');
    const QString script = completion + QStringLiteral("\nCOMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); ") + function
        + QStringLiteral("; printf '%s\\n' \"${COMPREPLY[@]}\"");
    return outputOf(QStringLiteral("bash"),
        QStringList { QStringLiteral("-c"), script, QStringLiteral("bash"), program.section(u'/', -1) } + words, true)
        .split(u'\n', Qt::SkipEmptyParts);
}

inline QStringList lacking(const QStringList &offered, const QStringList &wanted, const QString &where)
{
    QStringList faults;
    for (const QString &word : wanted)
        if (!offered.contains(word))
            faults << where + QStringLiteral(" does not offer ") + word;
    return faults;
}

inline QStringList faultsOfBash(const QString &program)
{
    const QString completion = manualOfProgram(program, "bash");
    QStringList faults;
    for (const QStringList &command : commandsOf(program)) {
        const ToldByHelp told = toldByHelp(program, command);
        const QString where = QStringLiteral("bash, at ") + command.join(u' ');
        const auto offered = [&](const QStringList &words) {
            return offeredByBash(program, completion, command + words);
        };
        faults += lacking(offered({ QStringLiteral("-") }), told.options, where);
        faults += lacking(offered({ QString() }), told.commands, where);
        for (const auto &[option, choices] : told.choices) {
            if (offered({ option, QString() }) != choices
                || offered({ option, QStringLiteral("="), choices.front() }) != QStringList { choices.front() })
                faults << where + QStringLiteral(" does not offer the values of ") + option;
        }
    }
    return faults;
}

/// Text of the function of a command, and syntax where the shell is there.
inline QStringList faultsOfZsh(const QString &program)
{
    const QString completion = manualOfProgram(program, "zsh"), name = program.section(u'/', -1);
    QStringList faults;
    if (!completion.startsWith(QStringLiteral("#compdef ") + name + u'\n'))
        faults << QStringLiteral("zsh does not know of which program it is");
    for (const QStringList &command : commandsOf(program)) {
        const ToldByHelp told = toldByHelp(program, command);
        const QString function =
            (QStringList { QString(), name } + command).join(u'_').replace(u'-', u'_') + QStringLiteral("() {\n");
        const QString body = completion.section(function, 1).section(QStringLiteral("\n}\n"), 0, 0);
        faults += missingIn(body, told.options + told.commands, QStringLiteral("zsh, at ") + command.join(u' '));
        for (const auto &[option, choices] : told.choices)
            if (!body.contains(QStringLiteral(":(%1)'").arg(choices.join(u' '))))
                faults << QStringLiteral("zsh lacks the values of ") + option;
    }
    if (!QStandardPaths::findExecutable(QStringLiteral("zsh")).isEmpty())
        if (const QString wrong =
                outputOf(QStringLiteral("zsh"), { QStringLiteral("-n"), QStringLiteral("-c"), completion }, true);
            !wrong.isEmpty())
            faults << QStringLiteral("zsh: ") + wrong;
    return faults;
}

/// Lines of a command, and what the shell offers where it is there.
inline QStringList faultsOfFish(const QString &program)
{
    const QString completion = manualOfProgram(program, "fish"), name = program.section(u'/', -1);
    const bool isThere = !QStandardPaths::findExecutable(QStringLiteral("fish")).isEmpty();
    QStringList faults;
    for (const QStringList &command : commandsOf(program)) {
        const ToldByHelp told = toldByHelp(program, command);
        const QString path = (QStringList { QString() } + command).join(u'/');
        const QString at = QStringLiteral("_at \"%1\"'").arg(path == QStringLiteral("/") ? QString() : path);
        const QString where = QStringLiteral("fish, at ") + command.join(u' ');
        QString lines;
        for (const QString &line : completion.split(u'\n'))
            if (line.contains(at))
                lines += line + u'\n';
        for (const QString &option : told.options)
            if (!lines.contains((option.startsWith(QStringLiteral("--")) ? QStringLiteral(" -l ") + option.mid(2)
                                                                         : QStringLiteral(" -s ") + option.mid(1))
                    + u' '))
                faults << where + QStringLiteral(" lacks ") + option;
        for (const QString &below : told.commands)
            if (!lines.contains(QStringLiteral(" -a '%1' ").arg(below)))
                faults << where + QStringLiteral(" lacks ") + below;
        for (const auto &[option, choices] : told.choices)
            if (!lines.contains(QStringLiteral(" -a '%1' ").arg(choices.join(u' '))))
                faults << where + QStringLiteral(" lacks the values of ") + option;
        if (!isThere)
            continue;
        const QString typed = (QStringList { name } + command + QStringList { QStringLiteral("--") }).join(u' ');
        QStringList offered;
        for (const QString &line : outputOf(QStringLiteral("fish"),
                 { QStringLiteral("-N"), QStringLiteral("-c"),
                     completion + QStringLiteral("\ncomplete -C '%1'").arg(typed) },
                 true)
                                       .split(u'\n'))
            offered << line.section(u'\t', 0, 0);
        faults += lacking(offered, told.options.filter(QRegularExpression(QStringLiteral("^--"))), where);
    }
    return faults;
}

} // namespace trainyard::test
