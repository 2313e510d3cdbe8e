// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/text/foreign_text.h"

#include "core/base/printable.h"
#include "models/text/utf8.h"

#include <QDir>
#include <QFileInfo>
#include <QTextDocument>

namespace trainyard {

namespace {

constexpr int kMostPath = 600; // bytes

} // namespace

QString foreignText(const QString &text, int most)
{
    return fromUtf8(shortened(printable(text.toStdString()), std::size_t(most)));
}

QString fileText(const QString &path)
{
    return foreignText(QFileInfo(path).fileName());
}

QString fileLabel(const QString &path)
{
    return fileText(path).replace(u'&', QStringLiteral("&&"));
}

QString pathText(const QString &path)
{
    return foreignText(QDir::toNativeSeparators(path), kMostPath);
}

QString plainTip(const QString &text)
{
    if (!Qt::mightBeRichText(text))
        return text;
    return QStringLiteral("<span>%1</span>").arg(text.toHtmlEscaped().replace(u'\n', QStringLiteral("<br>")));
}

} // namespace trainyard
