set print frame-info location
set width 0
set confirm off
set startup-with-shell off
break look_here
run
up 1
echo ---- ids\n
print goblin
print dead
print nobody
print health
print foe
echo ---- worlds\n
print w
print elsewhere
echo ---- chunks\n
print kind
print none
muster chunks w
echo ---- fragments\n
muster fragments w
echo ---- entities\n
muster entities w
muster entity w goblin
muster entity w orc
muster entity w ghost
muster entity w fighter
muster entity w far
muster entity w box
muster entity w dead
muster entity w foreign
muster entity w nobody
print $muster_get(w, goblin, "position").x
print $muster_get(w, goblin, "std::string")
python
try:
    gdb.parse_and_eval('$muster_get(w, orc, "mood")')
except gdb.error as error:
    print(error)
end
echo ---- other layouts\n
continue
up 1
print w
muster entities w
continue
up 1
print w
muster entities w
continue
up 1
print w
muster entities w
continue
up 1
print w
muster entities w
echo ---- links\n
continue
up 1
muster entity linked car
muster entity linked wheel
muster entity linked bob
