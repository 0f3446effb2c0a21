# says: write a block server "NAME"
- name: github
  command: npx
