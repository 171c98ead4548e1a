# Keeps the prompt as FOLDER/ROLE-NODE.prompt and prints FOLDER/ROLE-NODE.md; ROLE-NODE.hang makes it wait for ever instead.
folder=$1
name=$PRAGMA_ROLE-$PRAGMA_NODE
cat > "$folder/$name.prompt"
echo "$name" >> "$folder/asked"
if [ -e "$folder/$name.hang" ]; then
  touch "$folder/$name.hanging"
  exec sleep 3600
fi
exec cat "$folder/$name.md"
