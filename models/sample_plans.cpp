// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/sample_plans.h"

#include "models/installed_files.h"

#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>

namespace trainyard {

namespace {

const QString kPlanSuffix = QStringLiteral(".trainyard.json");

QStringList folders()
{
    return candidateFolders(QStringLiteral("samples"), QStringLiteral("trainyard/samples"))
        << QStringLiteral(":/samples");
}

QString titleOf(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return QJsonDocument::fromJson(file.readAll()).object()[QStringLiteral("name")].toString();
}

} // namespace

QVector<SamplePlan> samplePlans()
{
    for (const QString &folder : folders()) {
        QVector<SamplePlan> samples;
        const QDir dir(folder);
        for (const QString &name : dir.entryList({ u'*' + kPlanSuffix }, QDir::Files, QDir::Name)) {
            const QString id = name.chopped(kPlanSuffix.size());
            const QString title = titleOf(dir.filePath(name));
            samples.push_back({ id, title.isEmpty() ? id : title, dir.filePath(name) });
        }
        if (!samples.isEmpty())
            return samples;
    }
    return {};
}

QString samplePath(const QString &id)
{
    for (const QString &folder : folders()) {
        if (const QString path = QDir(folder).filePath(id + kPlanSuffix); QFile::exists(path))
            return path;
    }
    return {};
}

} // namespace trainyard
