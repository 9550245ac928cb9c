# SPDX-License-Identifier: MIT
# Completion for bash. What is offered comes from the programs' own tables, by way of `hdss complete`.
# shellcheck shell=bash

# Sets `words` to those of the line up to the cursor: COMP_WORDS is also cut at = and :, which are parts of ours.
_hdss_words() {
  local line=${COMP_LINE:0:COMP_POINT} word i
  line=${line#*"${COMP_WORDS[0]}"}
  words=("${COMP_WORDS[0]}")
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $line == [[:blank:]]* ]]; then
      line=${line#"${line%%[![:blank:]]*}"}
      words+=("")
    fi
    ((i < COMP_CWORD)) || word=$line
    words[-1]+=$word
    line=${line#"$word"}
  done
}

# Readline replaces only what stands behind the last = or :.
_hdss_cut() {
  local breaks=${COMP_WORDBREAKS//[!=:]/} word=${words[-1]}
  if [[ -n $breaks && $word == *[$breaks]* && ${#COMPREPLY[@]} -gt 0 ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*["$breaks"]}"}"}")
  fi
}

_hdss() {
  local hdss=hdss text about name words
  local -A kinds=([:files]=-f [:folders]=-d)
  [[ $1 != */* ]] || hdss=${1%/*}/hdss
  [[ $hdss != \~/* ]] || hdss=$HOME/${hdss#*/}
  command -v "$hdss" >/dev/null || hdss=hdss
  _hdss_words
  COMPREPLY=()
  while IFS=$'\t' read -r text about; do
    if [[ $text == :* ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r name; do
        COMPREPLY+=("$about$name")
      done < <(compgen "${kinds[$text]}" -- "${words[-1]#"$about"}")
    else
      [[ $text != *= ]] || compopt -o nospace 2>/dev/null
      COMPREPLY+=("$text")
    fi
  done < <("$hdss" complete "${words[@]}" 2>/dev/null)
  _hdss_cut
}

complete -F _hdss @PROGRAMS@
