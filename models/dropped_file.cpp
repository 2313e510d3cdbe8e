// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/dropped_file.h"

#include "core/facts/plan/embedded_plan.h"
#include "core/facts/session/session_io.h"
#include "core/planner/sweep/sweep_table.h"
#include "core/runs/telemetry/read_sources.h"
#include "models/plan_store.h"

#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMimeData>
#include <QUrl>

#include <algorithm>
#include <initializer_list>

namespace trainyard {

namespace {

constexpr qsizetype kHead = qsizetype(64) << 10;
constexpr qint64 kMostOfAPlan = qint64(64) << 20;

/// A reader of recordings is surer of it than that it describes a model.
bool isOfARun(const QString &path, const QByteArray &content)
{
    const std::string_view head(content.constData(), std::size_t(std::min(content.size(), kHead)));
    const SourceReader *reader = readerFor(QFileInfo(path).fileName().toStdString(), head);
    return reader && reader->kind != SourceKind::HfConfig;
}

} // namespace

FileKind kindOfFile(const QString &path)
{
    const QFileInfo file(path);
    if (isSweepFile(path.toStdString()))
        return FileKind::Sweep;
    if (isSessionPath(path.toStdString()))
        return FileKind::Session;
    if (file.isDir() || file.size() > kMostOfAPlan)
        return FileKind::Recording;
    const ExpectedAll<QByteArray> content = readBytes(path);
    if (!content)
        return FileKind::Plan; // opening it tells what is wrong
    const FileKind kind = kindOf(*content);
    const bool isRecording = kind == FileKind::Unknown || (kind == FileKind::ModelConfig && isOfARun(path, *content));
    return isRecording ? FileKind::Recording : kind;
}

FileKind kindOf(const QByteArray &content)
{
    const std::string_view text(content.constData(), std::size_t(content.size()));
    if (isPage(text))
        return planInside(text) ? FileKind::Plan : FileKind::Unknown;
    const QJsonObject object = QJsonDocument::fromJson(content).object();
    if (object[QStringLiteral("format")].toString() == QStringLiteral("trainyard.plan")
        || (object.contains(QStringLiteral("cluster")) && object.contains(QStringLiteral("workload"))))
        return FileKind::Plan;
    if (object[QStringLiteral("format")].toString() == QStringLiteral("trainyard.validation"))
        return FileKind::ValidationRows;
    // A broken plan is still meant as one, so that its faults are shown.
    if (object.isEmpty() && content.contains("trainyard.plan"))
        return FileKind::Plan;
    for (const auto *key : { "model_type", "hidden_size", "n_embd", "num_hidden_layers" }) {
        if (object.contains(QLatin1String(key)))
            return FileKind::ModelConfig;
    }
    return FileKind::Unknown;
}

QString droppedFile(const QMimeData *data)
{
    const QList<QUrl> urls = data->urls();
    return urls.size() == 1 && urls.front().isLocalFile() ? urls.front().toLocalFile() : QString();
}

QStringList droppedFiles(const QMimeData *data)
{
    QStringList files;
    for (const QUrl &url : data->urls())
        if (url.isLocalFile())
            files << url.toLocalFile();
    return files;
}

} // namespace trainyard
