// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/export/panel_picture.h"

#include "core/base/output_file.h"
#include "models/plan_export.h"
#include "views/export/file_target.h"

#include <QApplication>
#include <QBuffer>
#include <QClipboard>
#include <QFileInfo>
#include <QMenu>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>

namespace trainyard {

namespace {

constexpr double kScale = 2; // sharp on paper and on screens of twice the density

QImage imageOf(QWidget *panel)
{
    QImage image(panel->size() * kScale, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(kScale);
    image.fill(panel->palette().color(QPalette::Window));
    panel->render(&image);
    return image;
}

/// Draws the panel on a device that keeps vectors, on the window's ground: a panel alone may be transparent.
bool drawOn(QPaintDevice &device, QWidget *panel, QSizeF page)
{
    QPainter painter;
    if (!painter.begin(&device))
        return false;
    painter.fillRect(QRectF(QPointF(), page), panel->palette().color(QPalette::Window));
    panel->render(&painter, {}, {}, QWidget::DrawChildren);
    return painter.end();
}

QByteArray svgOf(QWidget *panel)
{
    QBuffer bytes;
    QSvgGenerator svg;
    svg.setOutputDevice(&bytes);
    svg.setResolution(96); // CSS pixels: it opens at the size that the panel has
    svg.setSize(panel->size());
    svg.setViewBox(panel->rect());
    svg.setTitle(panel->accessibleName());
    return drawOn(svg, panel, panel->size()) ? bytes.data() : QByteArray();
}

QByteArray pdfOf(QWidget *panel)
{
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    bool isDrawn = false;
    {
        QPdfWriter pdf(&bytes);
        pdf.setResolution(96);
        pdf.setPageSize(QPageSize(QSizeF(panel->size()) * 72 / 96, QPageSize::Point));
        pdf.setPageMargins({});
        isDrawn = drawOn(pdf, panel, panel->size());
    }
    return isDrawn ? bytes.data() : QByteArray();
}

QByteArray pngOf(QWidget *panel)
{
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    return imageOf(panel).save(&bytes, "PNG") ? bytes.data() : QByteArray();
}

void saveAsked(QWidget *panel, const QString &name, const QString &suffix, const QString &filter)
{
    FileTarget *target = FileTarget::of(panel);
    if (!target)
        return;
    const QByteArray picture = pictureOf(panel, suffix); // as it was when the menu was used, not after the dialog
    const QString file = exportFileName(name, ExportFormat::Plan).section(QStringLiteral(".trainyard"), 0, 0) + suffix;
    const QString path = target->ask(QObject::tr("Save picture"), file, suffix, filter);
    if (path.isEmpty())
        return;
    if (picture.isEmpty())
        target->sayFailure(QObject::tr("No picture of this panel could be made."), {});
    else
        target->write(QObject::tr("Picture"), path, picture);
}

} // namespace

QByteArray pictureOf(QWidget *panel, const QString &suffix)
{
    if (suffix.compare(QStringLiteral(".svg"), Qt::CaseInsensitive) == 0)
        return svgOf(panel);
    return suffix.compare(QStringLiteral(".pdf"), Qt::CaseInsensitive) == 0 ? pdfOf(panel) : pngOf(panel);
}

void copyPicture(QWidget *panel)
{
    QApplication::clipboard()->setImage(imageOf(panel));
}

bool savePicture(QWidget *panel, const QString &path)
{
    const QByteArray picture = pictureOf(panel, u'.' + QFileInfo(path).suffix());
    return !picture.isEmpty()
        && writeOutputFile(
            path.toStdString(), [&](std::ostream &out) { out.write(picture.constData(), picture.size()); },
            OutputKinds::RegularOnly);
}

void addPictureActions(QMenu &menu, QWidget *panel, const QString &name)
{
    QObject::connect(
        menu.addAction(QObject::tr("Copy as image")), &QAction::triggered, panel, [panel] { copyPicture(panel); });
    const bool canSave = FileTarget::of(panel) != nullptr;
    const struct {
        const char *label, *suffix, *filter;
    } kinds[] = {
        { QT_TRANSLATE_NOOP("QObject", "Save as PNG…"), ".png", QT_TRANSLATE_NOOP("QObject", "Pictures (*.png)") },
        { QT_TRANSLATE_NOOP("QObject", "Save as SVG…"), ".svg",
            QT_TRANSLATE_NOOP("QObject", "Vector pictures (*.svg)") },
        { QT_TRANSLATE_NOOP("QObject", "Save as PDF…"), ".pdf", QT_TRANSLATE_NOOP("QObject", "Pages (*.pdf)") },
    };
    for (const auto &kind : kinds) {
        QAction *action = menu.addAction(QObject::tr(kind.label));
        action->setEnabled(canSave);
        QObject::connect(action, &QAction::triggered, panel,
            [panel, name, kind] { saveAsked(panel, name, QLatin1String(kind.suffix), QObject::tr(kind.filter)); });
    }
}

} // namespace trainyard
