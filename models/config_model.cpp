// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config_model.h"

#include "core/facts/catalogue/parse.h"

#include <QDir>
#include <QFileInfo>

namespace trainyard {

Expected<ModelSpec> modelOfConfig(const QString &path)
{
    Expected<ModelSpec> model = readHuggingFaceConfig(path.toStdString());
    if (!model)
        return model;
    const QFileInfo file(path);
    const QString folder = file.absoluteDir().dirName();
    if (model->name.empty())
        model->name = folder.isEmpty() ? file.completeBaseName().toStdString() : folder.toStdString();
    // "config.json, model type llama", with the names of this file and its folder: no path of this machine.
    const QString said = QString::fromStdString(model->source);
    const QString name = folder.isEmpty() ? file.fileName() : folder + u'/' + file.fileName();
    model->source = (said.startsWith(QLatin1String("config.json")) ? name + said.mid(11) : name).toStdString();
    return model;
}

} // namespace trainyard
