# SPDX-License-Identifier: MIT
# Completion for fish. What is offered comes from the programs' own tables, by way of `hdss complete`.

function __hdss_complete
  set -l tab (printf '\t')
  set -l words (commandline -opc)
  set -l hdss hdss
  if string match -q -- '*/*' $words[1]
    set hdss (string replace -r '/[^/]*$' /hdss -- $words[1] | string replace -r '^~' $HOME)
  end
  set -l word (commandline -ct)
  for line in ($hdss complete $words "$word" 2>/dev/null)
    set -l parts (string split -m 1 $tab -- $line)
    switch $parts[1]
      case ':files' ':folders'
        set -l rest (string sub -s (math 1 + (string length -- "$parts[2]")) -- "$word")
        for name in (complete -C "__hdss_none $rest")
          set -l path (string split -m 1 $tab -- $name)[1]
          if test $parts[1] = ':files' -o -d "$path"
            echo -- $parts[2]$name
          end
        end
      case '*'
        echo -- $line
    end
  end
end

for program in @PROGRAMS@
  complete -c $program -f -a '(__hdss_complete)'
end
