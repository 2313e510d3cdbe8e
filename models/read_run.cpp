// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/read_run.h"

#include "models/text/foreign_text.h"
#include "models/watched_paths.h"

#include <QCoreApplication>
#include <QDir>

#include <algorithm>

namespace trainyard {

namespace {

std::string readRunText(const char *source)
{
    return QCoreApplication::translate("ReadRun", source).toStdString();
}

} // namespace

std::string nameOfRun(const QStringList &paths)
{
    if (paths.isEmpty())
        return {};
    QString name = fileText(QDir::cleanPath(paths.front()));
    if (paths.size() > 1)
        name = QCoreApplication::translate("ReadRun", "%1 and %2 more").arg(name).arg(paths.size() - 1);
    return name.toStdString();
}

ReadRun readRun(const QStringList &paths, const SourceOptions &options, const SourcesProgress &progress,
    const RunDocument::Read &read)
{
    ReadRun found;
    found.fingerprint = fingerprintOf(paths);
    std::vector<std::string> files;
    for (const QString &path : paths)
        files.push_back(path.toStdString());
    Expected<Recording> recording = read(files, options, progress);
    if (!recording) {
        found.errors = { recording.error() };
        return found;
    }
    const bool hasAny =
        std::ranges::any_of(recording->sources, [](const RecordedSource &source) { return source.refused.empty(); });
    if (!hasAny) {
        for (const RecordedSource &source : recording->sources) {
            found.errors.push_back({ ErrorCode::BadSyntax, source.file, source.refused, {} });
            found.mayTakeLinePattern = found.mayTakeLinePattern || source.mayTakeLinePattern;
        }
        if (found.errors.empty())
            found.errors.push_back(
                { ErrorCode::CannotRead, nameOfRun(paths), readRunText("there are no files in it"), {} });
        return found;
    }
    if (recording->name.empty())
        recording->name = nameOfRun(paths);
    RunPtr run = makeRun(*std::move(recording), options.stop);
    if (!options.stop.stop_requested())
        found.run = std::move(run);
    return found;
}

} // namespace trainyard
