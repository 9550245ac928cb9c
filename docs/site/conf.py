# SPDX-License-Identifier: MIT
"""Sphinx's settings of the site: see build.py. Nothing is fetched from elsewhere when a page is read."""
project = 'HDSS'
extensions = ['myst_parser']
myst_heading_anchors = 4
suppress_warnings = ['myst.header', 'misc.highlighting_failure']
smartquotes = False
html_theme = 'basic'
html_static_path = ['hdss.css']
html_css_files = ['hdss.css']
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
html_copy_source = False
html_sidebars = {'**': ['searchbox.html', 'globaltoc.html']}
