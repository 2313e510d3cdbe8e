// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/installed_files.h"

#include <QCoreApplication>
#include <QDir>

namespace trainyard {

QStringList candidateFolders(const QString &name, const QString &installed)
{
    const QDir bin(QCoreApplication::applicationDirPath());
    QStringList folders;
    // <source>/build/<preset>/bin; <prefix>/bin; a folder with the executable in it.
    for (const QString &relative :
        { QStringLiteral("../../../") + name, QStringLiteral("../share/") + installed, name })
        folders << QDir::cleanPath(bin.absoluteFilePath(relative));
    return folders;
}

QString documentationFolder()
{
    for (const QString &folder : candidateFolders(QStringLiteral("docs"), QStringLiteral("doc/trainyard/docs")))
        if (QDir(folder).exists())
            return folder;
    return {};
}

} // namespace trainyard
