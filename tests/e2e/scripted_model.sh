# Prints FOLDER/ROLE-NODE.md; ROLE-NODE.hang makes it wait for ever instead.
folder=$1
cat > /dev/null
name=$PRAGMA_ROLE-$PRAGMA_NODE
echo "$name" >> "$folder/asked"
if [ -e "$folder/$name.hang" ]; then
  touch "$folder/$name.hanging"
  exec sleep 3600
fi
exec cat "$folder/$name.md"
