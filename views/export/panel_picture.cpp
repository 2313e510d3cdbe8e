// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/export/panel_picture.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QMenu>
#include <QMessageBox>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>

namespace trainyard {

namespace {

constexpr double kScale = 2;               // sharp on paper and on screens of twice the density

QImage pictureOf(QWidget *panel)
{
    QImage image(panel->size() * kScale, QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(kScale);
    image.fill(panel->palette().color(QPalette::Window));
    panel->render(&image);
    return image;
}

bool saveSvg(QWidget *panel, const QString &path)
{
    QSvgGenerator svg;
    svg.setFileName(path);
    svg.setSize(panel->size());
    svg.setViewBox(panel->rect());
    svg.setTitle(panel->accessibleName());
    QPainter painter;
    if (!painter.begin(&svg))
        return false;
    panel->render(&painter);
    return painter.end();
}

bool savePdf(QWidget *panel, const QString &path)
{
    QPdfWriter pdf(path);
    pdf.setResolution(96);
    pdf.setPageMargins({});
    pdf.setPageSize(QPageSize(QSizeF(panel->size()) * 72 / 96, QPageSize::Point));
    QPainter painter;
    if (!painter.begin(&pdf))
        return false;
    panel->render(&painter);
    return painter.end();
}

} // namespace

void copyPicture(QWidget *panel)
{
    QApplication::clipboard()->setImage(pictureOf(panel));
}

bool savePicture(QWidget *panel, const QString &path)
{
    if (path.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive))
        return saveSvg(panel, path);
    if (path.endsWith(QStringLiteral(".pdf"), Qt::CaseInsensitive))
        return savePdf(panel, path);
    return pictureOf(panel).save(path);
}

void addPictureActions(QMenu &menu, QWidget *panel, const QString &name)
{
    QObject::connect(menu.addAction(QObject::tr("Copy as image")), &QAction::triggered, panel, [panel] { copyPicture(panel); });
    const auto save = [&](const QString &label, const QString &suffix) {
        QObject::connect(menu.addAction(label), &QAction::triggered, panel, [panel, name, suffix] {
            const QString path = QFileDialog::getSaveFileName(panel, QObject::tr("Save picture"), QDir::home().filePath(name + suffix));
            if (!path.isEmpty() && !savePicture(panel, path))
                QMessageBox::warning(panel, QObject::tr("Save picture"), QObject::tr("“%1” could not be written.").arg(path));
        });
    };
    save(QObject::tr("Save as PNG…"), QStringLiteral(".png"));
    save(QObject::tr("Save as SVG…"), QStringLiteral(".svg"));
    save(QObject::tr("Save as PDF…"), QStringLiteral(".pdf"));
}

} // namespace trainyard
