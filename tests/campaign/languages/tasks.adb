--  Exceptions, tasks with rendezvous, protected objects, checks, nested functions by trampolines.
with Ada.Text_IO; use Ada.Text_IO;
with Ada.Exceptions; use Ada.Exceptions;
with Ada.Containers.Ordered_Maps;

procedure Tasks is
   Bottom : exception;
   package Maps is new Ada.Containers.Ordered_Maps (Integer, Integer);

   function Fib (N : Integer) return Integer is
     (if N < 2 then N else Fib (N - 1) + Fib (N - 2));

   function Descend (N : Integer) return Integer is
   begin
      if N = 0 then
         raise Bottom with "0";
      end if;
      return Descend (N - 1) + 1;
   exception
      when E : Bottom =>
         raise Bottom with Integer'Image (Integer'Value (Exception_Message (E)) + 1);
   end Descend;

   function Depth (N : Integer) return Integer is
   begin
      return Descend (N);
   exception
      when E : Bottom => return Integer'Value (Exception_Message (E));
   end Depth;

   protected Total is
      procedure Add (N : Integer);
      function Value return Integer;
   private
      Sum : Integer := 0;
   end Total;
   protected body Total is
      procedure Add (N : Integer) is begin Sum := Sum + N; end Add;
      function Value return Integer is (Sum);
   end Total;

   task type Worker is
      entry Start (N : Integer);
   end Worker;
   task body Worker is
      Own : Integer;
   begin
      accept Start (N : Integer) do Own := N; end Start;
      for I in 1 .. 50 loop
         Total.Add (Depth ((I * Own) mod 30) + Fib (10));
         if I mod 10 = 0 then delay 0.001; end if;
      end loop;
   end Worker;

   procedure Visit (Each : not null access procedure (I : Integer)) is
   begin
      for I in 1 .. 10 loop Each (I); end loop;
   end Visit;

   Numbers : array (1 .. 10) of Integer := (others => 0);
   Map : Maps.Map;
   Sum : Integer := 0;
   procedure Add (I : Integer) is begin Sum := Sum + I * I; end Add;
begin
   declare
      Workers : array (1 .. 5) of Worker;
   begin
      for I in Workers'Range loop Workers (I).Start (I); end loop;
   end;
   Put_Line (Integer'Image (Total.Value) & Integer'Image (Fib (24)));
   Visit (Add'Access);
   for I in 1 .. 2000 loop Map.Include ((I * 7919) mod 2003, I); end loop;
   Put_Line (Integer'Image (Sum) & Integer'Image (Map.First_Element));
   for I in 1 .. 200 loop Sum := Sum + Depth (I mod 50); end loop;
   Put_Line (Integer'Image (Sum));
   begin
      Numbers (Sum) := 1;
   exception
      when Constraint_Error => Put_Line ("constraint");
   end;
   begin
      Put_Line (Integer'Image (Sum / (Numbers (1))));
   exception
      when E : Constraint_Error => Put_Line (Exception_Name (E));
   end;
   begin
      delay 0.002;
      raise Program_Error with "own";
   exception
      when E : others => Put_Line (Exception_Message (E));
   end;
end Tasks;
