// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/export/svg_object.h"

#include <QPainter>
#include <QRegularExpression>
#include <QSvgRenderer>
#include <QTextImageFormat>

#include <algorithm>

namespace trainyard {

namespace {

constexpr double kSmall = 40; // a picture less wide than this is a mark in a line of text
constexpr double kMarkPoints = 6;

/// The rules for SVG elements, without those of the page around them. The SVG reader knows plain class selectors.
QString styleOfPictures(const QString &sheet)
{
    static const QRegularExpression rule(QStringLiteral("([^{}]*)\\{([^{}]*)\\}"));
    QString style;
    // An element's rule would win over that of its class: what all texts have stands at the root instead.
    for (auto found = rule.globalMatch(sheet); found.hasNext();) {
        const auto match = found.next();
        const QString selector = match.captured(1).trimmed();
        if (selector == QLatin1String("svg text"))
            continue;
        if (selector.startsWith(QLatin1String("svg ")))
            style += QString(selector).remove(QStringLiteral("svg ")) + u'{' + match.captured(2) + u'}';
        else if (match.captured(2).trimmed().startsWith(QLatin1String("fill:")))
            style += selector + u'{' + match.captured(2) + u'}';
    }
    return style;
}

} // namespace

SvgObject::SvgObject(const QString &style, const QString &fontFamily, QSizeF page, double point)
    : m_style(styleOfPictures(style))
    , m_family(fontFamily)
    , m_page(page)
    , m_point(point)
{
}

QString SvgObject::withPictures(const QString &html)
{
    static const QRegularExpression picture(QStringLiteral("<svg[^>]*viewBox=\"([-0-9. ]+)\"[^>]*>(.*?)</svg>"),
        QRegularExpression::DotMatchesEverythingOption);
    QString text;
    qsizetype from = 0;
    for (auto found = picture.globalMatch(html); found.hasNext();) {
        const auto match = found.next();
        const QStringList box = match.captured(1).split(u' ', Qt::SkipEmptyParts);
        QSizeF size(box.value(2).toDouble(), box.value(3).toDouble());
        const QString svg =
            QStringLiteral("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"%1\" font-family=\"%4\" "
                           "font-size=\"11\" fill=\"#1b2330\"><style>%2</style>%3</svg>")
                .arg(match.captured(1), m_style, match.captured(2), m_family);
        if (size.width() < kSmall)
            size = { kMarkPoints * m_point, kMarkPoints * m_point };
        else
            size *= std::min(m_page.width() / size.width(), 0.85 * m_page.height() / std::max(1.0, size.height()));
        text.append(QStringView(html).mid(from, match.capturedStart() - from));
        const bool isMark = size.width() < kSmall * m_point;
        text += (isMark ? QStringLiteral("<img src=\"%1\">&nbsp;") : QStringLiteral("<p><img src=\"%1\"></p>"))
                    .arg(m_pictures.size());
        m_pictures.push_back({ svg.toUtf8(), size });
        from = match.capturedEnd();
    }
    return text.append(QStringView(html).mid(from));
}

const SvgObject::Picture *SvgObject::pictureOf(const QTextFormat &format) const
{
    const int index = format.toImageFormat().name().toInt();
    return index >= 0 && index < m_pictures.size() ? &m_pictures[index] : nullptr;
}

QSizeF SvgObject::intrinsicSize(QTextDocument *, int, const QTextFormat &format)
{
    const Picture *picture = pictureOf(format);
    return picture ? picture->size : QSizeF();
}

void SvgObject::drawObject(QPainter *painter, const QRectF &rect, QTextDocument *, int, const QTextFormat &format)
{
    const Picture *picture = pictureOf(format);
    if (!picture)
        return;
    QSvgRenderer renderer(picture->svg);
    renderer.render(painter, rect);
}

} // namespace trainyard
