#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Inline SVG of a report in a text document: each picture becomes an object of the text that paints itself as vectors,
// at the width of the page or, for the small squares of a legend, at the height of a letter. Owned by whoever lays out;
// any thread.

#include <QByteArray>
#include <QList>
#include <QObject>
#include <QSizeF>
#include <QTextObjectInterface>

namespace trainyard {

class SvgObject : public QObject, public QTextObjectInterface {
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)
public:
    /// `style`: CSS of the pictures' classes; `page`: the most room of one; `point`: device units of one point.
    SvgObject(const QString &style, const QString &fontFamily, QSizeF page, double point);

    /// The HTML with its <svg> elements replaced by objects that this paints.
    [[nodiscard]] QString withPictures(const QString &html);
    [[nodiscard]] qsizetype count() const { return m_pictures.size(); }

    QSizeF intrinsicSize(QTextDocument *document, int position, const QTextFormat &format) override;
    void drawObject(QPainter *painter, const QRectF &rect, QTextDocument *document, int position,
        const QTextFormat &format) override;

private:
    struct Picture {
        QByteArray svg;
        QSizeF size;
    };
    [[nodiscard]] const Picture *pictureOf(const QTextFormat &format) const;

    QString m_style, m_family;
    QSizeF m_page;
    double m_point;
    QList<Picture> m_pictures;
};

} // namespace trainyard
