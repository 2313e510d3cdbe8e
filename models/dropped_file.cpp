// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/dropped_file.h"

#include "core/plan/embedded_plan.h"

#include <QJsonDocument>
#include <QJsonObject>

#include <initializer_list>

#include <QMimeData>
#include <QUrl>

namespace trainyard {

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

} // namespace trainyard
